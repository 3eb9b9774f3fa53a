import { type JsonObject, parseExact, type TournamentState } from '@guildhall/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { refuse } from '../../kernel/failure.ts'
import { canonicalJson } from '../../kernel/json/canonical-json.ts'
import { ScriptFailure } from '../../kernel/play/script.ts'
import { createHarness, type Harness } from '../host.fixture.ts'
import type { HostFunctions } from '../ports.ts'
import { runners } from './runners.ts'
import { drafted, record, scenarios, tournament } from './scenarios.ts'

/** What the node answers, the same to every language. */
const functions: HostFunctions = {
  sleep: async () => undefined,
  online: (_caller, { user_ids }: { user_ids: string[] }) => user_ids.filter((id) => id === 'a'),
  'wallet.get': () => ({ gold: 9_007_199_254_740_993n }),
  'wallet.adjust'(_caller, { user_id, delta }: { user_id: string; delta: bigint }) {
    if (user_id === 'nobody') throw refuse.notFound('there is no such account')
    return { balance: delta, seq: 1, replayed: false }
  },
  'lag.start'(_caller, { options }: { options: { room_id?: number; filters: unknown[] } }) {
    if (options.room_id !== 7) throw new ScriptFailure('not_found', 'nobody can record')
    const skipped = [{ participant: 2, reason: 'guest' }]
    return { capture_id: 'ab', started: [options.filters.length], skipped }
  },
  'lag.flush'() {
    throw new ScriptFailure('conflict', 'the capture is over')
  },
  'lag.status': () => null,
  storage_read: () => null,
  storage_list(_caller, { owner, collection, options }: Listing) {
    const { prefix, limit, after } = options
    const asked = [owner ?? 'system', collection, prefix, limit, after]
    return { items: [], next: asked.join(' ').trim() }
  },
  storage_index_query(_caller, { index, filters, options }: Query) {
    return { items: [], next: [index, options.order, canonicalJson(filters)].join(' ') }
  },
  'tournaments.create': (_caller, { definition }) => {
    expect(definition).toEqual(drafted)
    return tournament('draft')
  },
  'tournaments.transition': (_caller, { to }: { to: TournamentState }) => tournament(to),
  'leaderboards.delete': () => false,
  'leaderboards.list': () => [],
  'leaderboards.get': () => null,
  'leaderboards.records': (_caller, { options }) => {
    expect(options).not.toHaveProperty('raw')
    return { total: 1, items: [{ ...record, undeclared: 'is left out' }] }
  },
  storage_write: (_caller, { owner, value }: { owner: string | null; value: object }) => ({
    version: `${JSON.stringify(owner)} ${JSON.stringify(value)}`,
  }),
}

type Listing = {
  owner: string | null
  collection: string
  options: { prefix?: string; limit: number; after?: string }
}

type Query = { index: string; filters: JsonObject; options: { order?: string } }

describe.each(runners)('$language', ({ file, tier, source }) => {
  let harness: Harness | undefined
  const served = scenarios.filter(({ trusted }) => !trusted || tier === 'trusted')

  it('[S-LANG-2] has a runner of at most 100 lines', () => {
    expect(source.trim().split('\n').length).toBeLessThanOrEqual(100)
  })

  // One worker for all: a scenario leaves nothing behind.
  beforeAll(async () => {
    const config = { tier, memory_mb: 128 }
    harness = createHarness({ files: { [file]: source }, config, functions })
    await harness.host.start()
  }, 120_000)
  afterAll(() => harness?.close())

  it('[S-TIER-2] has data in the trusted tier alone', async () => {
    const program = [
      ['wallet.get', ['user']],
      ['storage_read', [null, 'c', 'k']],
    ]
    const said: string[] = JSON.parse(String(await harness?.rpc('run', JSON.stringify(program))))
    const forbidden = ['error forbidden', 'error forbidden']
    expect(said).toEqual(tier === 'trusted' ? ['{"gold":9007199254740993}', 'nil'] : forbidden)
  })

  it.each(served)('[$rule] [S-LANG-2] $title', async ({ steps }) => {
    if (!harness) throw new Error('the script has not started')
    const program = steps.map(([call, args]) => [call, args])
    const said: string[] = JSON.parse(String(await harness.rpc('run', JSON.stringify(program))))
    expect(said.map(sorted)).toEqual(steps.map(([, , shown]) => sorted(shown)))
  })
})

/** The order of members is free. */
function sorted(shown: string): string {
  const start = /^(?:text )?(?=\{)/.exec(shown)?.[0]
  return start === undefined ? shown : start + ordered(parseExact(shown.slice(start.length)))
}

function ordered(value: unknown): string {
  return canonicalJson(value as JsonObject)
}

import {
  type JsonObject,
  parseExact,
  stringifyExact,
  type TournamentState,
} from '@guildhall/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSystemClock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import { canonicalJson } from '../../kernel/json/canonical-json.ts'
import { ScriptFailure } from '../../kernel/play/script.ts'
import { createHarness, type Harness } from '../host.fixture.ts'
import type { HostFunctions } from '../ports.ts'
import { answeredCalls } from './answers.ts'
import { errors, interrupted, tooLong } from './endings.ts'
import { runners } from './runners.ts'
import { anything, drafted, record, scenarios, tournament } from './scenarios.ts'

/** What the node answers, the same to every language. */
const answers: HostFunctions = {
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
  session_list: () => [],
  'http.fetch': () => ({
    status: 200,
    headers: {},
    body: new TextEncoder().encode('{"of":["ö",9007199254740993]}'),
  }),
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

/** What the node answers instead, while a test has it do so. */
const instead = new Map<string, unknown>()

const functions: HostFunctions = {
  ...answers,
  ...Object.fromEntries(
    answeredCalls.map(({ name }) => [
      name,
      (...asked) => (instead.has(name) ? instead.get(name) : answers[name]?.(...asked)),
    ]),
  ),
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
    // By the wall clock, which goes on while others have the processor.
    const config = { tier, memory_mb: 128, deadline_ms: 5000 }
    harness = createHarness({ files: { [file]: source }, config, functions })
    await harness.host.start()
  }, 120_000)
  afterAll(() => harness?.close())

  const started = () => {
    if (!harness) throw new Error('the script has not started')
    return harness
  }
  const run = async (program: readonly (readonly [call: string, args: readonly unknown[]])[]) => {
    const said: string[] = JSON.parse(String(await started().rpc('run', JSON.stringify(program))))
    return said
  }

  it('[S-TIER-2] has data in the trusted tier alone', async () => {
    const said = await run([
      ['wallet.get', ['user']],
      ['storage_read', [null, 'c', 'k']],
    ])
    const forbidden = ['error forbidden', 'error forbidden']
    expect(said).toEqual(tier === 'trusted' ? ['{"gold":9007199254740993}', 'nil'] : forbidden)
  })

  it.each(served)('[$rule] [S-LANG-2] $title', async ({ steps }) => {
    const said = await run(steps.map(([call, args]) => [call, args]))
    const seen = said.map((shown, n) => (steps[n]?.[2] === anything ? anything : sorted(shown)))
    expect(seen).toEqual(steps.map(([, , shown]) => sorted(shown)))
  })

  it.each(answeredCalls)('[S-API-2] [S-LANG-2] $name is answered', async (call) => {
    const { name, args, isTrusted } = call
    for (const answer of call.answers) {
      instead.set(name, answer)
      const [said = ''] = await run([[name, args]])
      instead.delete(name)
      const isForbidden = isTrusted && tier === 'sandboxed'
      expect(withoutNulls(said)).toBe(isForbidden ? 'error forbidden' : shownAs(answer))
    }
  })

  const placed = errors.filter(({ trusted }) => !trusted || tier === 'trusted')
  it.each(placed)('[S-VIEW-3] [S-LANG-2] $title', async ({ call, reason, mark }) => {
    const { rpc, lines } = started()
    const before = lines('warn').length
    expect(await rpc('call', JSON.stringify(call))).toEqual({ error: 'RPC handler error' })
    const [line] = lines('warn').slice(before)
    expect(line?.fields?.reason).toContain(reason)
    if (mark) expect(placesOf(mark, { file, source })).toContain(line?.fields?.at)
  })

  it('[S-API-1] [S-LANG-2] fails with a text of its own', async () => {
    const { rpc, lines } = started()
    const before = lines('warn').length
    const call = JSON.stringify(['fail', ['not enough gold', { code: 'x', data: [null] }]])
    expect(await rpc('call', call)).toEqual({ error: 'not enough gold' })
    expect(lines('warn')).toHaveLength(before)
  })
})

describe.each(runners)('handlers of $language that do not end', ({ file, tier, source }) => {
  let harness: Harness | undefined

  beforeAll(async () => {
    const config = { tier, memory_mb: 128, deadline_ms, call_timeout_ms: 1500 }
    const functions: HostFunctions = { sleep: (_caller, { ms }) => clock.sleep(ms) }
    harness = createHarness({ files: { [file]: source }, config, functions })
    await harness.host.start()
  }, 120_000)
  afterAll(() => harness?.close())

  const call = (name: string) => harness?.rpc('call', JSON.stringify([name, []]))
  const timedOut = { error: 'RPC handler timed out' }

  /** The next call is served, and the state of the script is still there. */
  async function expectAlive(): Promise<void> {
    const before = Number(await call('own.count'))
    expect(await call('own.count')).toBe(String(before + 1))
    expect(harness?.host.metrics().script_worker_restarts_total).toBe(0)
  }

  // Of the trusted tier only the first slice of JavaScript is interrupted [S-LIM-2].
  const isInterruptedLater = file !== 'main.ts'
  const served = interrupted.filter(({ waits }) => !waits || isInterruptedLater)

  it.each(served)('[S-LIM-1] [S-LANG-2] is interrupted when it $title', async ({ name }) => {
    const before = Number(harness?.host.metrics().script_interrupts_total)
    expect(await call(name)).toEqual(timedOut)
    expect(harness?.host.metrics().script_interrupts_total).toBe(before + 1)
    await expectAlive()
  })

  it('[S-LIM-1] [S-LANG-2] is interrupted at its deadline, not before and not long after', async () => {
    // The handler begins a little after its slice. Of a busy machine the best of all tries counts.
    const ranFor = async () => {
      expect(await call('own.loop')).toEqual(timedOut)
      return Number(await call('own.ran'))
    }
    await expect
      .poll(ranFor)
      .toSatisfy((ms) => ms > deadline_ms * 0.9 && ms <= deadline_ms * 1.5 + 25)
  })

  it.each(tooLong)('[S-LIM-4] [S-LANG-2] is given up when it $title', async ({ name }) => {
    expect(await call(name)).toEqual(timedOut)
    await expectAlive()
  })
})

const clock = createSystemClock()
const deadline_ms = 250

/** Lines of the runner that have a mark, as errors name them. */
function placesOf(mark: string, { file, source }: { file: string; source: string }): string[] {
  const lines = source.split('\n').map((line, n) => ({ line, place: `${file}:${n + 1}` }))
  return lines.filter(({ line }) => line.endsWith(mark)).map(({ place }) => place)
}

/** As a runner shows an answer. A member that is null is none in some languages. */
function shownAs(answer: unknown): string {
  if (answer === undefined || answer === null) return 'nil'
  if (typeof answer === 'string') return `text ${answer}`
  return withoutNulls(stringifyExact(answer))
}

function withoutNulls(shown: string): string {
  return /^[[{]/.test(shown) ? ordered(dropNulls(parseExact(shown))) : shown
}

function dropNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropNulls)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(members.map(([name, member]) => [name, dropNulls(member)]))
}

/** The order of members is free. */
function sorted(shown: string): string {
  const start = /^(?:text )?(?=\{)/.exec(shown)?.[0]
  return start === undefined ? shown : start + ordered(parseExact(shown.slice(start.length)))
}

function ordered(value: unknown): string {
  return canonicalJson(value as JsonObject)
}

import { type CaptureState, type LagCapture, lagApi } from '@guildhall/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { capturesStore } from './captures/captures.store.ts'
import { type LagScenario, openLag } from './lag.fixture.ts'

const durable = testBackends.filter(({ name }) => name !== 'in-memory')
const idOf = (number: number) => number.toString(16).padStart(32, '0')
const statesOf: Record<'live' | 'over', readonly string[]> = {
  live: ['recording', 'minting', 'flushing'],
  over: ['sealed', 'expired'],
}

type Kept = { id: number; state: CaptureState; label: string | null; match_id: string | null }
type Filters = { state?: 'live' | 'over'; label?: string; match_id?: string }

const kept: readonly Kept[] = Array.from({ length: 60 }, (_, id) => ({
  id,
  state:
    (['recording', 'sealed', 'expired', 'flushing', 'sealed', 'sealed'] as const)[id % 6] ??
    'sealed',
  label: ['arena', 'Arena', null, 'arena 2'][id % 4] ?? null,
  match_id: id % 5 === 0 ? null : `mt1-${(id % 5) % 2}`,
}))

const everyFilter: readonly Filters[] = [undefined, 'live' as const, 'over' as const].flatMap(
  (state) =>
    [undefined, 'arena'].flatMap((label) =>
      [undefined, 'mt1-1'].map((match_id) => ({
        ...(state && { state }),
        ...(label && { label }),
        ...(match_id && { match_id }),
      })),
    ),
)

async function fill({ db }: LagScenario, rows: readonly Kept[]): Promise<void> {
  await db.transaction(async (tx) => {
    for (const { id, ...row } of rows) {
      const counts = { offered: 0, recording: 0, failed: 0, flushing: 0 }
      await capturesStore.insert(tx, {
        ...{ capture_id: idOf(id), generation: 1, ...row, ...counts },
        ...{ uploaded: 0, missed: 0, gone: 0, filters_json: '[]' },
        ...{ created_at_unix_ms: 1, deadline_unix_ms: 2, node_id: 'another', boot_id: 'none' },
      })
    }
  })
}

describe.each(durable)('the list of captures on $name', (backend) => {
  let lag: LagScenario
  beforeEach(async () => {
    lag = await openLag(backend)
    return () => lag.dispose()
  })

  async function list(query: Record<string, string>) {
    const path = `/lag/captures?${new URLSearchParams(query)}`
    return lagApi.captures.ok.parse((await lag.operator.send('GET', path)).body)
  }

  it('[L-CON-3] is filtered by state, label and match, over all of its pages', async () => {
    await fill(lag, kept)
    for (const filters of everyFilter) {
      const { state, label, match_id } = filters
      const wanted = kept.filter(
        (row) =>
          (state === undefined || statesOf[state].includes(row.state)) &&
          (label === undefined || row.label === label) &&
          (match_id === undefined || row.match_id === match_id),
      )
      expect(wanted.length, JSON.stringify(filters)).toBeGreaterThan(0)
      const found: LagCapture[] = []
      let after: string | undefined
      do {
        const page = await list({ ...filters, limit: '5', ...(after && { after }) })
        found.push(...page.items)
        after = page.next_after
      } while (after !== undefined)
      const ids = wanted.map(({ id }) => idOf(id)).toReversed()
      expect(
        found.map(({ capture_id }) => capture_id),
        JSON.stringify(filters),
      ).toEqual(ids)
    }
  })

  it('[L-CON-3] refuses filters that no capture can meet', async () => {
    for (const query of [
      'state=sealed',
      'state=',
      'label=',
      'match_id=',
      `label=${'x'.repeat(65)}`,
      'user_id=1',
    ]) {
      const { status } = await lag.operator.send('GET', `/lag/captures?${query}`)
      expect(status, query).toBe(400)
    }
  })
})

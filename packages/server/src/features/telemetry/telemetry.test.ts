import { telemetryApi } from '@guildhall/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { createIds } from '../../kernel/ids.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { createSlices } from './telemetry.slices.ts'
import type { SliceRow } from './telemetry.store.ts'

const match = { match_id: `mt1-${'0'.repeat(28)}1` }
const nowhere = { match_id: null }
const day = 86_400_000

describe('telemetry slices', () => {
  function open() {
    const clock = createFakeClock()
    const closed: SliceRow[] = []
    const ids = createIds({ clock, nodeId: 'dev-1', bootId: 'bt1-a' })
    const slices = createSlices({
      clock,
      ids,
      nodeId: 'dev-1',
      closed: (row) => void closed.push(row),
    })
    const reasons = () => closed.map(({ close_reason }) => close_reason)
    return { clock, closed, slices, reasons }
  }

  it('[S-API-19] count markers by their outcome until they are finished', async () => {
    const { clock, closed, slices } = open()
    slices.begin(match, 'boss.fight')
    slices.begin(nowhere)
    for (const outcome of ['accepted', 'accepted', 'rejected', 'corrected', undefined] as const) {
      slices.mark(match, outcome)
    }
    await clock.advance(1500)
    slices.finish(match)
    expect(closed).toEqual([
      {
        report_id: expect.stringMatching(/^ats1-[0-9a-f]{29}$/),
        ...match,
        node_id: 'dev-1',
        context_kind: 'boss.fight',
        close_reason: 'finished',
        closed_at_unix_ms: clock.nowUnixMs(),
        duration_ms: 1500,
        marker_total: 5,
        truncated: false,
        accepted_total: 2,
        rejected_total: 1,
        corrected_total: 1,
      },
    ])
    slices.finish(match)
    slices.mark(match, 'accepted')
    expect(closed).toHaveLength(1)
    slices.finish(nowhere)
    expect(closed[1]).toMatchObject({ match_id: null, context_kind: 'match', marker_total: 0 })
  })

  it('[S-API-19] are closed by the next of their place, and after five minutes', async () => {
    const { clock, slices, reasons } = open()
    slices.begin(match)
    await clock.advance(299_999)
    slices.begin(match)
    expect(reasons()).toEqual(['restarted'])
    await clock.advance(299_999)
    expect(reasons()).toHaveLength(1)
    await clock.advance(1)
    expect(reasons()).toEqual(['restarted', 'ttl'])
    slices.finish(match)
    expect(reasons()).toHaveLength(2)
  })

  it('[S-API-19] take 32 markers; the next closes them and is not counted', () => {
    const { closed, slices } = open()
    slices.begin(match)
    for (let marker = 0; marker < 32; marker += 1) slices.mark(match, 'rejected')
    expect(closed).toEqual([])
    slices.mark(match, 'rejected')
    expect(closed).toMatchObject([
      { close_reason: 'marker_cap', truncated: true, marker_total: 32, rejected_total: 32 },
    ])
  })

  it('[S-API-19] are 32 at most; one more closes the oldest', () => {
    const { closed, slices } = open()
    const places = Array.from({ length: 33 }, (_, at) => ({ match_id: `mt1-${at}` }))
    for (const place of places.slice(0, 32)) slices.begin(place)
    slices.begin(places[0] ?? nowhere)
    expect(closed).toMatchObject([{ match_id: 'mt1-0', close_reason: 'restarted' }])
    slices.begin(places[32] ?? nowhere)
    expect(closed[1]).toMatchObject({ match_id: 'mt1-1', close_reason: 'active_cap' })
    slices.finishAll()
    expect(closed).toHaveLength(34)
  })
})

describe.each(testBackends)('telemetry on $name', (backend) => {
  let scenario: Scenario
  let operator: Operator
  beforeEach(async () => {
    scenario = await openScenario(backend)
    operator = await openOperator(scenario.api)
    return () => scenario.dispose()
  })
  const list = async (query = '') =>
    telemetryApi.slices.ok.parse((await operator.send('GET', `/telemetry/slices${query}`)).body)
  const count = (place: { match_id: string | null }, context: string) => {
    const { slices } = scenario.api.features.telemetry
    slices.begin(place, context)
    slices.finish(place)
  }

  it('[H-TEL-2] [H-TEL-3] lists slices newest first, of one match or of all', async () => {
    for (const context of ['one', 'two']) count(match, context)
    count(nowhere, 'three')
    const { items, ...page } = await list()
    if (backend.name === 'in-memory') {
      expect([items, page]).toEqual([[], { durable: false, dropped_total: 0 }])
      expect((await operator.send('GET', `/telemetry/slices/ats1-${'0'.repeat(29)}`)).status).toBe(
        404,
      )
      return
    }
    expect(page).toEqual({ durable: true, dropped_total: 0 })
    expect(items.map(({ context_kind }) => context_kind)).toEqual(['three', 'two', 'one'])
    const [newest] = items
    const one = await operator.send('GET', `/telemetry/slices/${newest?.report_id}`)
    expect(one.body).toEqual({ ...newest, match_id: null, close_reason: 'finished' })
    const ofMatch = await list(`?match_id=${match.match_id}&limit=1`)
    expect(ofMatch.items.map(({ context_kind }) => context_kind)).toEqual(['two'])
    const rest = await list(`?match_id=${match.match_id}&after=${ofMatch.next_after}`)
    expect(rest.items.map(({ context_kind }) => context_kind)).toEqual(['one'])
  })

  it('[H-TEL-2] refuses what is malformed', async () => {
    for (const query of ['match_id=x', 'after=ml1-0', 'limit=-1', 'x=1']) {
      expect((await operator.send('GET', `/telemetry/slices?${query}`)).status, query).toBe(400)
    }
    expect((await operator.send('GET', '/telemetry/slices/nonsense')).status).toBe(404)
  })

  it('[S-Q-4] slices go after 30 days', async () => {
    count(match, 'old')
    await list()
    await scenario.clock.advance(30 * day)
    const pruned = await scenario.api.pruner('telemetry_slices')(10)
    expect(pruned).toBe(backend.name === 'in-memory' ? 0 : 1)
    expect(await scenario.countRows('telemetry_slices')).toBe(0)
  })

  it('[H-TEL-1] shows the machine once it was sampled', async () => {
    const host = async () =>
      telemetryApi.host.ok.parse((await operator.send('GET', '/telemetry')).body)
    expect(await host()).toEqual({})
    await scenario.api.runTask('host-metrics')
    const { memory, storage } = await host()
    expect(memory?.process_used_bytes).toBeGreaterThan(10_000_000)
    expect(memory?.used_bytes).toBe((memory?.total_bytes ?? 0) - (memory?.available_bytes ?? 0))
    expect(storage?.mounted_filesystems).toBeGreaterThan(0)
  })
})

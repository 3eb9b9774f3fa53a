import { matchRecordsApi } from '@guildhall/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'

const day = 86_400_000
const label = { map: 'lobby', mode: 'duel', max_players: 4 }
const idOf = (number: number) => `mt1-${number.toString(16).padStart(29, '0')}`
const done = Promise.resolve()

const addBoot = statement({
  name: 'tests.add-boot',
  text: `INSERT INTO node_boots
      (boot_id, node_id, started_at_unix_ms, seen_at_unix_ms, ended_at_unix_ms)
    VALUES (:boot_id, 'other', 1, {{now}} - :seen_ms, {{now}} - :ended_ms)`,
  params: { boot_id: 'text', seen_ms: 'integer', ended_ms: 'integer?' },
})

const addRecord = statement({
  name: 'tests.add-record',
  text: `INSERT INTO match_records (match_id, node_id, boot_id, room_id, map, mode, max_players,
      opened_at_unix_ms, peak_participants, join_total)
    VALUES (:match_id, :node_id, :boot_id, 1, 'm', '', 0, 1, 3, 5)`,
  params: { match_id: 'text', node_id: 'text', boot_id: 'text' },
})

describe.each(testBackends)('records of matches on $name', (backend) => {
  let scenario: Scenario
  let operator: Operator
  beforeEach(async () => {
    scenario = await openScenario(backend)
    operator = await openOperator(scenario.api)
    return () => scenario.dispose()
  })

  const recorder = () => scenario.api.features.matchRecords.recorder
  const open = (number: number, more: Partial<Parameters<typeof openedBy>[0]> = {}) =>
    openedBy({ match_id: idOf(number), room_id: number, name: null, binding: null, ...more })
  function openedBy(match: {
    match_id: string
    room_id: number
    name: string | null
    binding: { revision_id: string; generation: number } | null
  }) {
    recorder().opened({ ...match, label, opened_at_unix_ms: scenario.clock.nowUnixMs() })
  }
  const end = (number: number, settled = done) =>
    recorder().ended(idOf(number), {
      termination_reason: 'final_departure',
      closed_at_unix_ms: scenario.clock.nowUnixMs(),
      settled,
    })
  const list = async (query = '') => {
    const answer = await operator.send('GET', `/matchlogs${query}`)
    return matchRecordsApi.list.ok.parse(answer.body)
  }
  const get = async (number: number) => {
    const answer = await operator.send('GET', `/matchlogs/${idOf(number)}`)
    return matchRecordsApi.get.ok.parse(answer.body)
  }
  const write = () => scenario.api.queues.find(({ name }) => name === 'matches')?.flush(2000)

  if (backend.name === 'in-memory') {
    it('[H-LOG-6] [R-REC-1] has none without a durable backend', async () => {
      open(1)
      expect(await list()).toEqual({ items: [], durable: false, dropped_total: 0 })
      for (const path of [idOf(1), `${idOf(1)}/entries`]) {
        expect((await operator.send('GET', `/matchlogs/${path}`)).status).toBe(404)
      }
      expect((await operator.send('GET', '/matchlogs?after=x')).status).toBe(400)
    })
    return
  }

  it('[R-REC-1] [H-LOG-3] [H-LOG-4] say what became of a match from open to close', async () => {
    const openedMs = scenario.clock.nowUnixMs()
    open(7, { name: 'arena', binding: { revision_id: 'sha256:abc', generation: 2 } })
    const opened = {
      match_id: idOf(7),
      node_id: 'dev-1',
      boot_id: expect.stringMatching(/^bt1-[0-9a-f]{32}$/),
      room_id: 7,
      name: 'arena',
      ...label,
      clock_epoch: 0,
      opened_at_unix_ms: openedMs,
      peak_participants: 0,
      join_total: 0,
      open: true,
      script_revision_id: 'sha256:abc',
      script_generation: 2,
    }
    expect((await list()).items).toEqual([opened])
    for (const members of [1, 2, 1]) recorder().admitted(idOf(7), members)
    recorder().labelled(idOf(7), { ...label, map: 'castle' })
    recorder().result(idOf(7), '{"winner":1}')
    await scenario.clock.advance(5000)
    end(7, done)
    await write()
    const counts = { logs: 0, telemetry_slices: 0, lag_reports: 0, audit: 0 }
    expect(await get(7)).toEqual({
      ...opened,
      map: 'castle',
      peak_participants: 2,
      join_total: 3,
      open: false,
      closed_at_unix_ms: openedMs + 5000,
      termination_reason: 'final_departure',
      result_json: '{"winner":1}',
      counts,
    })
  })

  it('[R-REC-2] are written as they are at the flush: whoever came since the open is counted', async () => {
    open(1)
    recorder().admitted(idOf(1), 1)
    recorder().labelled(idOf(1), { ...label, map: 'castle' })
    await write()
    expect((await list()).items).toMatchObject([
      { open: true, join_total: 1, peak_participants: 1, map: 'castle' },
    ])
    recorder().admitted(idOf(1), 2)
    const hook = Promise.withResolvers<void>()
    await scenario.clock.advance(10_000)
    end(1, hook.promise)
    recorder().result(idOf(1), '{"early":1}')
    await write()
    expect((await list()).items).toMatchObject([{ open: true, join_total: 2 }])
    recorder().result(idOf(1), '{"last":1}')
    hook.resolve()
    await hook.promise
    await write()
    expect(await get(1)).toMatchObject({ open: false, join_total: 2, result_json: '{"last":1}' })
  })

  it('[R-REC-2] are written at the open, at the close, and every 10 s while they change', async () => {
    const joins = async () => (await scenario.rowsOf('match_records')).map((row) => row.join_total)
    open(1)
    await write()
    expect(await joins()).toEqual([0n])
    recorder().admitted(idOf(1), 1)
    await scenario.clock.advance(9999)
    await write()
    expect(await joins()).toEqual([0n])
    await scenario.clock.advance(1)
    await write()
    expect(await joins()).toEqual([1n])
    recorder().admitted(idOf(1), 2)
    const hook = Promise.withResolvers<void>()
    end(1, hook.promise)
    recorder().result(idOf(1), '{}')
    await scenario.clock.advance(1)
    await write()
    expect(await joins()).toEqual([1n])
    hook.resolve()
    await hook.promise
    recorder().result(idOf(1), '{"late":1}')
    await write()
    expect(await joins()).toEqual([2n])
    expect(await get(1)).toMatchObject({ open: false, result_json: '{}' })
  })

  it('[R-REC-9] hold no identity of anybody who played', async () => {
    open(1)
    recorder().admitted(idOf(1), 1)
    end(1)
    await get(1)
    const [row = {}] = await scenario.rowsOf('match_records')
    expect(Object.keys(row).sort()).toEqual(
      [
        ['match_id', 'node_id', 'boot_id', 'room_id', 'name', 'map', 'mode', 'max_players'],
        ['opened_at_unix_ms', 'closed_at_unix_ms', 'termination_reason'],
        ['peak_participants', 'join_total'],
        ['script_revision_id', 'script_generation', 'result_json'],
      ]
        .flat()
        .sort(),
    )
  })

  it('[R-REC-1] a record that is closed never changes again', async () => {
    open(1)
    end(1)
    await get(1)
    open(1)
    await write()
    expect(await get(1)).toMatchObject({ open: false, termination_reason: 'final_departure' })
  })

  it('[H-LOG-3] are listed newest first, in pages, and the open ones alone', async () => {
    for (const number of [1, 2, 3, 4]) open(number)
    end(2)
    await done
    const ids = async (query: string) => (await list(query)).items.map(({ room_id }) => room_id)
    expect(await ids('')).toEqual([4, 3, 2, 1])
    expect(await ids('?open=true')).toEqual([4, 3, 1])
    expect(await ids('?open=false')).toEqual([4, 3, 2, 1])
    const first = await list('?limit=3&open=true')
    expect(first).not.toHaveProperty('next_after')
    const page = await list('?limit=2')
    expect(page).toMatchObject({ next_after: idOf(3), durable: true, dropped_total: 0 })
    expect(
      await ids(`?limit=2&after=${page.next_after?.toUpperCase().replace('MT1', 'mt1')}`),
    ).toEqual([2, 1])
  })

  it('[H-LOG-3] [H-LOG-6] [H-GEN-25] refuse what is malformed', async () => {
    open(1)
    for (const query of ['?open=yes', '?after=ml1-0', '?x=1', '?open=true&open=true']) {
      expect((await operator.send('GET', `/matchlogs${query}`)).status, query).toBe(400)
    }
    for (const [path, status] of [
      [`/${idOf(2)}`, 404],
      ['/nonsense', 404],
      [`/${idOf(1)}?x=1`, 400],
      [`/${idOf(2)}/entries`, 404],
      [`/${idOf(2)}/entries?after=x`, 400],
      [`/${idOf(1)}/entries?limit=x`, 400],
    ] as const) {
      expect((await operator.send('GET', `/matchlogs${path}`)).status, path).toBe(status)
    }
  })

  it('[H-LOG-5] have their lines and slices as entries', async () => {
    open(1)
    const { scriptLogs, telemetry } = scenario.api.features
    const match = { match_id: idOf(1) }
    for (const message of ['one', 'two', 'three']) {
      scriptLogs.write({ level: 'info', tag: 'game', message }, match)
    }
    scriptLogs.write({ level: 'info', tag: 'game', message: 'elsewhere' }, { match_id: idOf(2) })
    telemetry.slices.begin(match)
    telemetry.slices.mark(match, 'accepted')
    end(1)
    await scenario.clock.advance(1)
    for (const queue of scenario.api.queues) await queue.flush(2000)
    const path = `/matchlogs/${idOf(1)}/entries`
    const answer = await operator.send('GET', `${path}?limit=2`)
    const found = matchRecordsApi.entries.ok.parse(answer.body)
    expect(found.logs.map(({ message }) => message)).toEqual(['three', 'two'])
    expect(found.telemetry_slices).toMatchObject([
      { match_id: idOf(1), close_reason: 'finished', marker_total: 1, accepted_total: 1 },
    ])
    expect(found.counts).toEqual({ logs: 3, telemetry_slices: 1, lag_reports: 0, audit: 0 })
    expect([found.record.match_id, found.lag_reports, found.audit]).toEqual([idOf(1), [], []])
    const next = await operator.send('GET', `${path}?limit=2&after=${found.logs_next_after}`)
    const rest = matchRecordsApi.entries.ok.parse(next.body)
    expect(rest.logs.map(({ message }) => message)).toEqual(['one'])
    expect(rest).not.toHaveProperty('logs_next_after')
    expect((await get(1)).counts.logs).toBe(3)
  })

  it('[H-AUD-4] are read in sight of the ring, and of nobody later', async () => {
    open(1)
    await list()
    await get(1)
    await operator.send('GET', `/matchlogs/${idOf(1)}/entries`)
    const seen = scenario.api.features.audit.recorder
      .newest(3, ({ action }) => action.startsWith('matchlog.'))
      .map(({ action, target, details }) => [action, target, details])
    expect(seen).toEqual([
      ['matchlog.entries', idOf(1), 'returned=0 slices=0 lag=0 audit=0'],
      ['matchlog.detail', idOf(1), 'returned=1 logs=0'],
      ['matchlog.list', 'matchlogs', 'returned=1'],
    ])
    expect(await operator.trailOf('matchlogs')).toEqual([])
  })

  it('[R-REC-7] a start closes what earlier boots of its node left open, and nothing else', async () => {
    await scenario.db.run(addRecord, { match_id: idOf(1), node_id: 'dev-1', boot_id: 'bt1-past' })
    await scenario.db.run(addRecord, { match_id: idOf(2), node_id: 'dev-2', boot_id: 'bt1-past' })
    open(3)
    await write()
    await scenario.api.features.matchRecords.afterClaim?.()
    expect(await get(1)).toMatchObject({
      open: false,
      termination_reason: 'server_closed',
      closed_at_unix_ms: scenario.clock.nowUnixMs(),
      peak_participants: 3,
      join_total: 5,
    })
    expect((await list('?open=true')).items.map(({ match_id }) => match_id)).toEqual([
      idOf(3),
      idOf(2),
    ])
  })

  it('[R-REC-8] are kept 90 days after they closed, and while they are open', async () => {
    open(1)
    open(2)
    end(1)
    await list()
    const prune = scenario.api.pruner('match_records')
    await scenario.clock.advance(90 * day - 1)
    expect(await prune(10)).toBe(0)
    await scenario.clock.advance(1)
    expect(await prune(10)).toBe(1)
    expect((await scenario.rowsOf('match_records')).map((row) => row.match_id)).toEqual([idOf(2)])
  })

  if (backend.name === 'postgres') {
    it('[R-REC-7] those of boots that were gone for 10 minutes are closed by any node', async () => {
      const minute = 60_000
      const boots = [
        ['gone', 11 * minute, null],
        ['ended', 0, 11 * minute],
        ['alive', 0, null],
        ['late', 9 * minute, null],
      ] as const
      for (const [boot_id, seen_ms, ended_ms] of boots) {
        await scenario.db.run(addBoot, { boot_id, seen_ms, ended_ms })
      }
      for (const [at, boot_id] of ['gone', 'ended', 'alive', 'late', 'unknown'].entries()) {
        await scenario.db.run(addRecord, { match_id: idOf(at), node_id: 'other', boot_id })
      }
      await scenario.api.pruner('match_records')(10)
      const left = await scenario.rowsOf('match_records', 'closed_at_unix_ms IS NULL')
      expect(left.map((row) => row.boot_id).sort()).toEqual(['alive', 'late'])
    })
  }
})

import { int64Max, int64Min } from '@guildhall/contract'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { statement } from '../../../database/statement.ts'
import { testBackends } from '../../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../../testing/scenario.ts'
import {
  backgroundOf,
  endedUnixMs,
  farUnixMs,
  openTournamentOperator,
  putBoard,
  type Score,
  type TournamentOperator,
} from '../tournaments.fixture.ts'
import { createSettlementRules } from './settlement.ts'

/** What a board, an account or a record leaves behind when it goes. */
const forget = ['leaderboards', 'leaderboard_records'].map((table) =>
  statement({ name: `tests.forget-${table}`, text: `DELETE FROM ${table}` }),
)

const setDue = statement({
  name: 'tests.set-due',
  text: 'UPDATE leaderboards SET next_due_at_unix_ms = :due_at_unix_ms WHERE id = :id',
  params: { id: 'text', due_at_unix_ms: 'integer?' },
})
const quiet = { config: { notify_results: false, notify_max: 1 }, leave: async () => {} }

describe.each(testBackends)('the end of a tournament on $name', (backend) => {
  let scenario: Scenario
  let operator: TournamentOperator
  let background: ReturnType<typeof backgroundOf>
  /** Five accounts, in the order of their ids. */
  let users: [string, string, string, string, string]
  let boards = 0
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openTournamentOperator(scenario.api, scenario.db)
    background = backgroundOf(scenario, scenario.api)
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1) ids.push((await scenario.signUp()).user_id)
    ids.sort()
    users = [ids[0] ?? '', ids[1] ?? '', ids[2] ?? '', ids[3] ?? '', ids[4] ?? '']
    return () => scenario.dispose()
  })

  async function board(sort: 'asc' | 'desc', scores: readonly Score[]) {
    boards += 1
    const id = `board ${boards}`
    const period = await putBoard(scenario.db, { id, sort, scores })
    return { leaderboard_id: id, period, sort }
  }

  it('[O-TRN-3] [H-TRN-6] ranks the entrants in the order of a descending board', async () => {
    const [a, b, c, d, e] = users
    const { leaderboard_id } = await board('desc', [
      [a, 5n, 1n],
      [b, 5n, 2n],
      [d, 5n, 1n],
      [c, int64Max, int64Min],
      ['nobody registered', 100n],
    ])
    const { id } = await operator.run([a, b, c, d, e], { leaderboard_id })
    expect(await operator.results(id)).toEqual([])
    await background.settle()
    expect(await operator.results(id)).toEqual([
      `${c} 1 ${int64Max} ${int64Min}`,
      `${b} 2 5 2`,
      `${a} 3 5 1`,
      `${d} 4 5 1`,
    ])
    expect(await operator.get(id)).toMatchObject({
      state: 'completed',
      settled_epoch_due_at_unix_ms: endedUnixMs,
    })
    expect(await scenario.rowsOf('tournament_snapshots')).toEqual([])
    expect(await operator.trailOf(id)).toHaveLength(3)
  })

  it('[O-TRN-3] ranks the entrants in the order of an ascending board', async () => {
    const [a, b, c, d] = users
    const scores: Score[] = [
      [a, 5n, 1n],
      [b, 5n, 0n],
      [c, int64Min, int64Max],
      [d, 5n, 1n],
    ]
    const { leaderboard_id } = await board('asc', scores)
    const { id } = await operator.run([d, c, b, a], { leaderboard_id })
    await background.settle()
    expect(await operator.results(id)).toEqual([
      `${c} 1 ${int64Min} ${int64Max}`,
      `${b} 2 5 0`,
      `${a} 3 5 1`,
      `${d} 4 5 1`,
    ])
  })

  it('[O-TRN-3] [O-TRN-4] ranks whatever there is as sorting the entrants’ records would', async () => {
    const small = fc.bigInt({ min: -2n, max: 2n })
    const score = fc.oneof(small, fc.constantFrom(int64Min, int64Max))
    const record = fc.tuple(score, small)
    const season = fc.record({
      sort: fc.constantFrom('asc' as const, 'desc' as const),
      records: fc.array(fc.option(record, { nil: undefined }), { minLength: 5, maxLength: 5 }),
      entrants: fc.subarray([0, 1, 2, 3, 4]),
    })
    await fc.assert(
      fc.asyncProperty(season, async ({ sort, records, entrants }) => {
        const scores = records.flatMap((it, index): [string, bigint, bigint][] =>
          it === undefined ? [] : [[users[index] ?? '', ...it]],
        )
        const { leaderboard_id } = await board(sort, scores)
        const { id } = await operator.run(
          entrants.map((index) => users[index] ?? ''),
          { leaderboard_id },
        )
        await background.settle()
        const sign = sort === 'asc' ? 1 : -1
        const compare = (x: bigint, y: bigint) => (x < y ? -1 : x > y ? 1 : 0)
        const expected = scores
          .filter(([user]) => entrants.some((index) => users[index] === user))
          .sort(([u, s, t], [v, x, y]) => {
            return sign * compare(s, x) || sign * compare(t, y) || (u < v ? -1 : 1)
          })
          .map(([user, s, t], index) => [user, index + 1, s, t].join(' '))
        expect(await operator.results(id)).toEqual(expected)
      }),
      { numRuns: 15 },
    )
  })

  it('[H-TRN-5] [O-TRN-6] leaves alone what is not running, or not over', async () => {
    const [a] = users
    const { leaderboard_id } = await board('desc', [[a, 1n]])
    const ids = [
      (await operator.make({ leaderboard_id })).id,
      (await operator.make({ leaderboard_id })).id,
      (await operator.run([a], { leaderboard_id, ends_at_unix_ms: farUnixMs })).id,
      (await operator.run([a], { leaderboard_id })).id,
    ]
    await operator.move(ids[1] ?? '', 'registration_open')
    await operator.move(ids[3] ?? '', 'cancelled')
    await background.settle()
    const states = []
    for (const id of ids) states.push((await operator.get(id)).state)
    expect(states).toEqual(['draft', 'registration_open', 'running', 'cancelled'])
    // Set running after its end: the next pass ends it.
    await operator.move(ids[1] ?? '', 'running')
    await background.settle()
    expect((await operator.get(ids[1] ?? '')).state).toBe('completed')
  })

  it('[H-TRN-7] leaves the board and its records as they are', async () => {
    const [a, b] = users
    const { leaderboard_id, period } = await board('desc', [
      [a, 1n],
      [b, 2n],
    ])
    const before = await scenario.rowsOf('leaderboards', `id = '${leaderboard_id}'`)
    await operator.run([a], { leaderboard_id })
    await background.settle()
    expect(await scenario.rowsOf('leaderboards', `id = '${leaderboard_id}'`)).toEqual(before)
    expect(await scenario.rowsOf('leaderboard_records', `period = ${period}`)).toHaveLength(2)
  })

  it('[O-TRN-8] completes without results where there is no board', async () => {
    const { id } = await operator.run([users[0]], { leaderboard_id: 'never made' })
    await background.settle()
    expect(await operator.get(id)).toMatchObject({
      state: 'completed',
      settled_epoch_due_at_unix_ms: endedUnixMs,
    })
    expect(await operator.results(id)).toEqual([])
    await background.deliver()
    expect(background.seen).toContainEqual([
      'on_tournament_completed',
      { tournament_id: id, leaderboard_id: 'never made', results_total: 0 },
    ])
  })

  it('[H-TRN-7] [O-TRN-3] a second settlement changes nothing', async () => {
    const [a, b] = users
    const { leaderboard_id } = await board('desc', [
      [a, 1n],
      [b, 2n],
    ])
    const { id } = await operator.run([a, b], { leaderboard_id })
    await background.settle()
    const tables = ['tournaments', 'tournament_results', 'tournament_entries', 'outbox']
    const all = () => Promise.all(tables.map((table) => scenario.rowsOf(table)))
    const settled = await all()
    await background.settle()
    await backgroundOf(scenario, scenario.api).settle()
    expect(await all()).toEqual(settled)
    for (const state of ['finalizing', 'completed', 'cancelled', 'running']) {
      expect((await operator.transition(id, state)).status).toBe(409)
    }
    expect(await all()).toEqual(settled)
  })

  it('[O-TRN-4] results stay when the board, its records and the accounts go', async () => {
    const [a, b] = users
    const { leaderboard_id } = await board('desc', [
      [a, 1n],
      [b, 2n],
    ])
    const { id } = await operator.run([a, b], { leaderboard_id })
    await background.settle()
    const results = await operator.results(id)
    expect(results).toEqual([`${b} 1 2 0`, `${a} 2 1 0`])
    const gone = await scenario.signUp()
    await scenario.setState(b, 'tombstoned')
    for (const each of forget) await scenario.db.run(each, {})
    await background.settle()
    expect(await operator.results(id)).toEqual(results)
    expect(await operator.entrants(id)).toEqual([a, b])
    await scenario.setState(b, 'active')
    expect(gone.user_id).not.toBe('')
  })

  it('[H-TRN-5] [O-TRN-2] leaves the end to a reset that was due before it', async () => {
    const [a, b] = users
    const { clock, db } = scenario
    const closed = await board('desc', [
      [a, 1n],
      [b, 2n],
    ])
    const { leaderboard_id } = closed
    const rules = createSettlementRules({ clock, ...quiet })
    const due = (due_at_unix_ms: number | null) =>
      db.run(setDue, { id: leaderboard_id, due_at_unix_ms })
    const stateOf = async (id: string) => (await operator.get(id)).state

    await due(endedUnixMs + 1)
    const first = await operator.run([a, b], { leaderboard_id })
    await background.settle()
    expect(await stateOf(first.id)).toBe('completed')

    await due(endedUnixMs)
    const second = await operator.run([a, b], { leaderboard_id })
    await background.settle()
    expect(await db.transaction((tx) => rules.finalizeAtEnd(tx, second.id))).toBe(false)
    expect(await stateOf(second.id)).toBe('running')
    const reset = { ...closed, due_at_unix_ms: endedUnixMs }
    await db.transaction((tx) => rules.finalizeForReset(tx, reset))
    await due(farUnixMs)
    await background.settle()
    expect(await operator.results(second.id)).toEqual([`${b} 1 2 0`, `${a} 2 1 0`])

    // A reset that is not to be executed leaves no cursor behind.
    await due(null)
    const third = await operator.run([a, b], { leaderboard_id })
    await background.settle()
    expect(await stateOf(third.id)).toBe('completed')
  })

  it('[O-TRN-2] a reset finalizes the board’s running tournaments by what it closes', async () => {
    const [a, b, c] = users
    const closed = await board('asc', [
      [a, 3n],
      [b, 1n],
    ])
    const { leaderboard_id } = closed
    const far = { leaderboard_id, ends_at_unix_ms: farUnixMs }
    const running = await operator.run([a, b, c], far)
    const over = await operator.run([a], { leaderboard_id })
    const elsewhere = await operator.run([a], { ...far, leaderboard_id: 'another' })
    const open = await operator.make(far)
    await operator.move(open.id, 'registration_open')
    const due_at_unix_ms = endedUnixMs + 5000
    const { periodClosed } = scenario.api.features.tournaments
    const reset = { ...closed, due_at_unix_ms }

    const failed = scenario.db.transaction(async (tx) => {
      await periodClosed(tx, reset)
      throw new Error('the reset is not to be')
    })
    await expect(failed).rejects.toThrow('not to be')
    expect((await operator.get(running.id)).state).toBe('running')
    expect(await scenario.rowsOf('tournament_snapshots')).toEqual([])

    await scenario.db.transaction((tx) => periodClosed(tx, reset), { isolation: 'read committed' })
    expect(await operator.get(running.id)).toMatchObject({
      state: 'finalizing',
      settled_epoch_due_at_unix_ms: due_at_unix_ms,
    })
    // Its end came first, though nobody had looked yet.
    expect(await operator.get(over.id)).toMatchObject({
      state: 'finalizing',
      settled_epoch_due_at_unix_ms: endedUnixMs,
    })
    expect((await operator.get(elsewhere.id)).state).toBe('running')
    expect((await operator.get(open.id)).state).toBe('registration_open')
    expect((await operator.transition(running.id, 'cancelled')).status).toBe(409)

    for (const each of forget) await scenario.db.run(each, {})
    await background.settle()
    expect(await operator.results(running.id)).toEqual([`${b} 1 1 0`, `${a} 2 3 0`])
    expect(await operator.results(over.id)).toEqual([`${a} 1 3 0`])
    await background.deliver()
    const { period } = closed
    expect(background.seen).toContainEqual([
      'on_leaderboard_reset',
      { leaderboard_id, due_at_unix_ms, fencing_token: period },
    ])
  })
})

describe.each(testBackends)('the settlement after a leap of the clock on $name', (backend) => {
  it('[O-CLK-2] ends nothing for 10 minutes, and completes what has ended', async () => {
    const scenario = await openScenario(backend)
    try {
      const { clock, db, api } = scenario
      const operator = await openTournamentOperator(api, db)
      const background = backgroundOf(scenario, api)
      const running = await operator.run([])
      const over = await operator.run([])
      const rules = createSettlementRules({ clock, ...quiet })
      await db.transaction((tx) => rules.finalizeAtEnd(tx, over.id))
      const states = async () => {
        const rows = await scenario.rowsOf('tournaments')
        return [running, over].map(({ id }) => rows.find((row) => row.id === id)?.state)
      }
      clock.setWall(clock.nowUnixMs() + 3_600_001)
      await background.settle()
      expect(await states()).toEqual(['running', 'completed'])
      clock.setWall(clock.nowUnixMs() - 3_600_001)
      await clock.advance(599_999)
      await background.settle()
      expect(await states()).toEqual(['running', 'completed'])
      await clock.advance(1)
      await background.settle()
      expect(await states()).toEqual(['completed', 'completed'])
    } finally {
      await scenario.dispose()
    }
  })
})

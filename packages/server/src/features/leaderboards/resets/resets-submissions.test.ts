import { leaderboardsApi } from '@guildhall/contract'
import { afterEach, describe, expect, it } from 'vitest'
import type { Database } from '../../../database/database.ts'
import { databaseNow } from '../../../database/reads/stored-time.ts'
import { statement } from '../../../database/statement.ts'
import { testBackends } from '../../../database/testing/backends.ts'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { openTestApi, type TestApi } from '../../../testing/api.ts'
import { openOperator } from '../../../testing/operator.ts'
import { openScenario } from '../../../testing/scenario.ts'
import { cursorsOf, epochsOf } from './resets.fixture.ts'

const minute = 60_000
const day = 24 * 60 * minute
const execute = { 'leaderboards.execute_reset_schedules': 'true' }

const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

const setCursor = statement({
  name: 'resets-test.set-cursor-of',
  text: 'UPDATE leaderboards SET next_due_at_unix_ms = :at WHERE id = :id',
  params: { id: 'text', at: 'integer' },
})
const periods = statement({
  name: 'resets-test.records-by-period',
  text: `SELECT p.due_at_unix_ms, COUNT(e.user_id) AS records FROM leaderboard_periods p
    LEFT JOIN leaderboard_records e ON e.period = p.period
    WHERE p.board_id = :id GROUP BY p.period, p.due_at_unix_ms ORDER BY p.period`,
  params: { id: 'text' },
  row: { due_at_unix_ms: 'integer?', records: 'integer' },
})
/** The records of each period of a board, the oldest period first. */
const recordsOf = async (db: Database, id: string) =>
  (await db.all(periods, { id })).map(({ records }) => records)

/** An operator's requests about boards. */
async function openBoardOperator(api: TestApi) {
  const operator = await openOperator(api)
  return {
    create: (id: string, reset_schedule: string | null) =>
      operator.send('POST', '/leaderboards', { id, reset_schedule }),
    submit: (id: string, user_id: string, score = 1) =>
      operator.send('POST', `/leaderboards/${id}/records`, { user_id, score }),
    async users(id: string): Promise<string[]> {
      const { body } = await operator.send('GET', `/leaderboards/${id}/records?limit=500`)
      return leaderboardsApi.records.ok.parse(body).items.map(({ user_id }) => user_id)
    },
    async list() {
      return leaderboardsApi.list.ok.parse((await operator.send('GET', '/leaderboards')).body).items
    },
  }
}

describe('a submission to a board whose schedule is executed', () => {
  async function setUp(config: Record<string, string> = execute) {
    const clock = createFakeClock()
    const [inMemory] = testBackends
    if (inMemory === undefined) throw new Error('there is no backend')
    const { db, dispose } = await inMemory.open({ clock })
    closers.push(dispose)
    const api = await openTestApi({
      db,
      clock,
      // The clock leaps by days, and the operator goes on.
      config: { ...config, 'console.token_expiry_sec': '604800' },
    })
    closers.push(api.close)
    return { clock, db, api, operator: await openBoardOperator(api) }
  }

  it('[O-SCH-6] belongs to the period of its millisecond, without any scheduler', async () => {
    const { clock, db, operator } = await setUp()
    expect((await operator.create('b', '* * * * *')).status).toBe(201)
    const due = clock.nowUnixMs() + minute
    await clock.advance(minute - 1)
    expect((await operator.submit('b', 'early')).status).toBe(200)
    expect(await epochsOf(db)).toEqual([])
    await clock.advance(1)
    expect((await operator.submit('b', 'late')).status).toBe(200)
    expect(await operator.users('b')).toEqual(['late'])
    expect(await epochsOf(db)).toEqual([{ board_id: 'b', due_at_unix_ms: due, occurrences: 1 }])
    expect(await recordsOf(db, 'b')).toEqual([1, 1])
    await clock.advance(5 * minute)
    expect((await operator.submit('b', 'later')).status).toBe(200)
    expect(await epochsOf(db)).toEqual([
      { board_id: 'b', due_at_unix_ms: due, occurrences: 1 },
      { board_id: 'b', due_at_unix_ms: due + 5 * minute, occurrences: 5 },
    ])
    expect(await cursorsOf(db)).toEqual({ b: due + 6 * minute })
  })

  it('[O-CLK-2] of a board made while the clock was on hold is scheduled after it', async () => {
    const { api, clock, db, operator } = await setUp()
    const { resets } = api.features.leaderboards
    const first = clock.nowUnixMs() + day
    clock.setWall(clock.nowUnixMs() + 3 * day)
    expect((await operator.create('b', '0 0 * * *')).status).toBe(201)
    expect((await operator.submit('b', 'u')).status).toBe(200)
    clock.setWall(clock.nowUnixMs() - 3 * day)
    await resets.setMissingCursors()
    expect(await cursorsOf(db)).toEqual({ b: null })
    await clock.advance(10 * minute)
    await resets.setMissingCursors()
    expect(await cursorsOf(db)).toEqual({ b: first })
    await clock.advance(day)
    expect((await operator.submit('b', 'v')).status).toBe(200)
    expect(await recordsOf(db, 'b')).toEqual([1, 1])
  })

  it('[H-LDB-6] keeps any schedule verbatim, and shows nothing of its execution', async () => {
    const { clock, operator, db } = await setUp()
    const texts = ['* * * * *', 'every now and then', ' 0 0 * * * ', '', 'ä'.repeat(512)]
    for (const [index, text] of texts.entries()) {
      const answer = await operator.create(`b-${index}`, text)
      expect([answer.status, answer.body]).toMatchObject([201, { reset_schedule: text }])
    }
    expect((await operator.create('b-x', 'x'.repeat(1025))).status).toBe(400)
    await clock.advance(2 * day)
    for (const [index] of texts.entries()) await operator.submit(`b-${index}`, 'u')
    expect((await epochsOf(db)).map(({ board_id }) => board_id)).toEqual(['b-0', 'b-2'])
    expect(await operator.list()).toEqual(
      texts.map((reset_schedule, index) => {
        return { id: `b-${index}`, sort: 'desc', operator: 'best', reset_schedule, records: 1 }
      }),
    )
  })

  it('[H-LDB-6] resets nothing while the switch is off', async () => {
    const { clock, db, operator } = await setUp({})
    await operator.create('b', '* * * * *')
    await operator.submit('b', 'ann')
    await clock.advance(day)
    await operator.submit('b', 'bob')
    expect(await operator.users('b')).toEqual(['ann', 'bob'])
    expect([await epochsOf(db), await cursorsOf(db)]).toEqual([[], { b: null }])
  })

  it('[O-CLK-2] counts for the period that goes on while the clock may be wrong', async () => {
    const { clock, db, operator } = await setUp()
    await operator.create('b', '* * * * *')
    await operator.submit('b', 'ann')
    clock.setWall(clock.nowUnixMs() + day)
    expect((await operator.submit('b', 'bob')).status).toBe(200)
    expect([await operator.users('b'), await epochsOf(db)]).toEqual([['ann', 'bob'], []])
    clock.setWall(clock.nowUnixMs() - day)
    await clock.advance(30_000)
    await operator.submit('b', 'cyd')
    expect(await operator.users('b')).toEqual(['ann', 'bob', 'cyd'])
    await clock.advance(10 * minute)
    await operator.submit('b', 'dan')
    expect([await operator.users('b'), await recordsOf(db, 'b')]).toEqual([['dan'], [3, 1]])
  })

  it('[O-SCH-7] fails alone when its board cannot be reset', async () => {
    const { clock, db, operator, api } = await setUp()
    for (const id of ['bad', 'good']) await operator.create(id, '* * * * *')
    await db.run(breakBoard, {})
    await clock.advance(minute)
    const answers = await Promise.all(
      ['bad', 'good', 'bad', 'good'].map((id, index) => operator.submit(id, `u-${index}`)),
    )
    expect(answers.map(({ status }) => status)).toEqual([500, 200, 500, 200])
    expect((await epochsOf(db)).map(({ board_id }) => board_id)).toEqual(['good'])
    expect(await operator.users('good')).toEqual(['u-1', 'u-3'])
    expect(await operator.users('bad')).toEqual([])
    expect(api.failures.splice(0)).toHaveLength(2)
  })
})

/** A snapshot that there should not be makes the reset of the board fail at its end. */
const breakBoard = statement({
  name: 'resets-test.break-board',
  text: `CREATE TRIGGER bad BEFORE UPDATE ON leaderboard_periods WHEN OLD.board_id = 'bad'
    BEGIN SELECT RAISE(ABORT, 'no such luck'); END`,
})

describe.each(testBackends)('submissions that race at a boundary on $name', (backend) => {
  it('[O-SCH-6] [O-SCH-4] of two nodes reset once, and all count for the new period', async () => {
    const scenario = await openScenario(backend, execute)
    closers.push(scenario.dispose)
    const { db } = scenario
    const other = await scenario.openNode()
    const operators = [await openBoardOperator(scenario.api), await openBoardOperator(other)]
    const [first] = operators
    if (first === undefined) throw new Error('there is no operator')
    await first.create('b', '0 0 * * *')
    await Promise.all(Array.from({ length: 10 }, (_, index) => first.submit('b', `old-${index}`)))
    for (let round = 1; round <= 3; round += 1) {
      const today = Math.floor((await databaseNow(db)) / day) * day
      // As if nobody had been there since; each round is due for a time of its own.
      await db.run(forgetEpochs, {})
      await db.run(setCursor, { id: 'b', at: today - round * day })
      const submissions = Array.from({ length: 40 }, (_, index) => {
        const operator = operators[index % operators.length] ?? first
        return operator.submit('b', `new-${round}-${index}`)
      })
      const epochs = Promise.all(
        [other, scenario.api].map((api) => api.features.leaderboards.resets.resetDue('b')),
      )
      const answers = await Promise.all(submissions)
      expect(answers.every(({ status }) => status === 200)).toBe(true)
      await epochs
      expect(await epochsOf(db)).toEqual([
        { board_id: 'b', due_at_unix_ms: today, occurrences: round + 1 },
      ])
      expect((await first.users('b')).sort()).toEqual(
        Array.from({ length: 40 }, (_, index) => `new-${round}-${index}`).sort(),
      )
    }
    expect(await recordsOf(db, 'b')).toEqual([10, 40, 40, 40])
    for (const api of [other, scenario.api]) expect(api.failures).toEqual([])
  })
})

const forgetEpochs = statement({
  name: 'resets-test.forget-epochs',
  text: 'UPDATE leaderboard_periods SET due_at_unix_ms = NULL',
})

import { expect, it, onTestFinished } from 'vitest'
import { statement } from '../../../database/statement.ts'
import { testBackends } from '../../../database/testing/backends.ts'
import { bySystem } from '../../../kernel/mutation.ts'
import { openBoards } from '../leaderboards.fixture.ts'

/** Holds while a block keeps the number of its records. */
const forbidChange = statement({
  name: 'tests.leaderboards-forbid-change',
  text: 'ALTER TABLE leaderboard_blocks ADD CONSTRAINT tests_unchanged CHECK (records = 1)',
  params: {},
})

/** Lets the process look for answers so seldom that those of one turn are read at once. */
function lookSeldom(): void {
  const never = new Int32Array(new SharedArrayBuffer(4))
  const timer = setInterval(() => Atomics.wait(never, 0, 0, 20), 1)
  onTestFinished(() => clearInterval(timer))
}

it('[O-TX-5] reports a failed change of records by its first error', async () => {
  const postgres = testBackends.find(({ name }) => name === 'postgres')
  if (postgres === undefined) throw new Error('there is no PostgreSQL')
  const { db, dispose } = await postgres.open()
  onTestFinished(dispose)
  const boards = openBoards(db)
  await boards.create(bySystem, { id: 'b' })
  const record = { user_id: 'u', score: 1n }
  await boards.submit(bySystem, 'b', record)
  await db.run(forbidChange, {})
  lookSeldom()
  await expect(boards.submit(bySystem, 'b', { ...record, user_id: 'v' })).rejects.toThrow(
    'tests_unchanged',
  )
  await expect(boards.discard(bySystem, 'b', 'u')).rejects.toThrow('tests_unchanged')
  await expect(boards.deleteRecord(bySystem, 'b', 'u')).rejects.toThrow('tests_unchanged')
  expect(await boards.rankOf('b', 'u')).toMatchObject({ rank: 1 })
})

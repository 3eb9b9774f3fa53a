import { describe, expect, it } from 'vitest'
import { statement } from '../../../database/statement.ts'
import { testBackends } from '../../../database/testing/backends.ts'
import { bySystem } from '../../../kernel/mutation.ts'
import { openBoards } from '../leaderboards.fixture.ts'

describe.each(testBackends)('a submission during a hold on $name', (backend) => {
  const setDue = statement({
    name: 'tests.leaderboards-set-due',
    text: 'UPDATE leaderboards SET next_due_at_unix_ms = 1',
    params: {},
  })

  it('[O-SCH-6] takes one transaction, as it does on any other board', async () => {
    const { db, dispose } = await backend.open()
    let mayReset = false
    const asked: string[] = []
    const resetDue = async (id: string) => {
      asked.push(id)
      return undefined
    }
    const boards = openBoards(db, { resetDue, mayReset: () => mayReset })
    await boards.create(bySystem, { id: 'b' })
    await db.run(setDue, {})
    const record = { user_id: 'u', score: 1n }
    expect(await boards.submit(bySystem, 'b', record)).toMatchObject({ submissions: 1 })
    expect(asked).toEqual([])
    mayReset = true
    expect(await boards.submit(bySystem, 'b', record)).toMatchObject({ submissions: 2 })
    expect(asked).toEqual(['b'])
    await dispose()
  })
})

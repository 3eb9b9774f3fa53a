import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { UniqueViolation } from '../../database/database.ts'
import { batchStatement, lookup, statement } from '../../database/statement.ts'
import { type TestDatabase, testBackends } from '../../database/testing/backends.ts'
import { countErrors } from './error-count.ts'

const columns = { id: 'text' } as const
const missing = statement({ name: 'tests.missing', text: 'SELECT id FROM nowhere', row: columns })
const missingRows = batchStatement({
  name: 'tests.missing-rows',
  text: 'SELECT n.id FROM {{rows}} AS r JOIN nowhere n ON n.id = r.id',
  params: columns,
  row: columns,
})
const missingLookup = lookup({
  name: 'tests.missing-lookup',
  text: 'SELECT r.id FROM {{rows}} AS r JOIN nowhere n ON n.id = r.id',
  params: columns,
  row: columns,
})
const add = statement({
  name: 'tests.add-account',
  text: `INSERT INTO accounts (id, username, state, created_at_unix_ms, updated_at_unix_ms)
    VALUES (:id, :id, 'active', 0, 0)`,
  params: columns,
})

describe.each(testBackends)('the errors of a database on $name', ({ open }) => {
  let test: TestDatabase
  beforeEach(async () => {
    test = await open()
  })
  afterEach(() => test.dispose())

  it('[H-PUB-7] are counted once for each statement, lookup and transaction', async () => {
    const { db, errors } = countErrors(test.db)
    const attempts = [
      () => db.all(missing, {}),
      () => db.get(missing, {}),
      () => db.run(missing, {}),
      () => db.each(missingRows, [{ id: 'a' }]),
      () => db.find(missingLookup, { id: 'a' }),
      () => db.transaction((tx) => tx.get(missing, {})),
      () => db.longRead((state) => state.all(missing, {})),
    ]
    for (const [made, attempt] of attempts.entries()) {
      await expect(attempt()).rejects.toThrow(/nowhere/)
      expect(errors()).toBe(made + 1)
    }
    await test.db.close()
    await expect(async () => db.get(missing, {})).rejects.toThrow()
    expect(errors()).toBe(attempts.length + 1)
  })

  it('[H-PUB-7] are neither a key that exists nor what a body throws', async () => {
    const { db, errors } = countErrors(test.db)
    await db.run(add, { id: 'a' })
    await expect(db.run(add, { id: 'a' })).rejects.toBeInstanceOf(UniqueViolation)
    const ownAffair = db.transaction(async (tx) => {
      await tx.run(add, { id: 'b' })
      throw new Error('changed its mind')
    })
    await expect(ownAffair).rejects.toThrow('changed its mind')
    await db.transaction((tx) => tx.run(add, { id: 'c' }))
    expect(errors()).toBe(0)
  })
})

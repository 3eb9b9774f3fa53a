import { expect, it, onTestFinished } from 'vitest'
import { atEndOfTurn } from '../../kernel/clock.ts'
import { testBackends } from '../testing/backends.ts'
import { openWithTables } from '../testing/contract-database.ts'
import { findCounter, insertCounters, setCounter } from '../testing/contract-statements.ts'

async function openFile() {
  const backend = testBackends.find(({ name }) => name === 'sqlite')
  if (backend === undefined) throw new Error('there is no backend of a file')
  const file = await openWithTables(backend.open)
  onTestFinished(() => file.dispose())
  await file.db.each(insertCounters, [
    { id: 'a', total: 1n },
    { id: 'b', total: 2n },
  ])
  return file.db
}

it('reads the lookups of a turn when it ends, each question once', async () => {
  const db = await openFile()
  const answered: string[] = []
  const ask = async (id: string) => {
    const row = await db.find(findCounter, { id })
    answered.push(id)
    return row
  }
  const asked = ['a', 'b', 'a'].map(ask)
  for (let microtask = 0; microtask < 50; microtask += 1) await undefined
  expect(answered).toEqual([])
  await new Promise<void>((resolve) => atEndOfTurn(resolve))
  expect(answered.toSorted()).toEqual(['a', 'a', 'b'])
  const [first, other, again] = await Promise.all(asked)
  expect([first?.total, other?.total]).toEqual([1n, 2n])
  expect(again).toBe(first)
})

it('answers what was looked up before it is closed', async () => {
  const db = await openFile()
  const asked = db.find(findCounter, { id: 'a' })
  await db.close()
  expect(await asked).toEqual({ id: 'a', total: 1n })
})

it('[O-TX-1] leaves no old state open behind lookups that failed together', async () => {
  const db = await openFile()
  const wrong = [db.find(findCounter, { id: 'a' }), db.find(findCounter, { id: 1 as never })]
  const outcomes = await Promise.allSettled(wrong)
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await db.run(setCounter, { id: 'a', total: 7n })
  const [a, b] = await Promise.all(['a', 'b'].map((id) => db.find(findCounter, { id })))
  expect([a?.total, b?.total]).toEqual([7n, 2n])
})

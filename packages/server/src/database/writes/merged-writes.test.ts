import { expect, it } from 'vitest'
import { atEndOfTurn } from '../../kernel/clock.ts'
import type { Database } from '../database.ts'
import { mergedTransactions, mergedWrites } from './merged-writes.ts'

const nextTurn = () => new Promise<void>((resolve) => atEndOfTurn(resolve))

type Begun = { items: readonly string[]; end: () => void; fail: (error: Error) => void }

/** Merged writes of some kinds, which end when the test says so. */
function setUp(backend: Database['backend'], kinds: number, merged = mergedWrites<string, string>) {
  const db = { backend } as unknown as Database
  const begun: Begun[] = []
  const writes = Array.from({ length: kinds }, () =>
    merged(db, {
      itemsMax: 100,
      async run(items) {
        const { promise, resolve: end, reject: fail } = Promise.withResolvers<void>()
        begun.push({ items, end, fail })
        await promise
        return items.map((item) => ({ ok: true, value: item }))
      },
    }),
  )
  return { begun, writes }
}

it.each([
  ['writes', mergedWrites<string, string>],
  ['transactions', mergedTransactions<string, string>],
])(
  'runs three kinds of %s at once on PostgreSQL; what comes meanwhile joins the others',
  async (_name, merged) => {
    const { begun, writes } = setUp('postgres', 4, merged)
    const answers = writes.map((write, kind) => write(`${kind} a`))
    await nextTurn()
    answers.push(...writes.map((write, kind) => write(`${kind} b`)))
    await nextTurn()
    expect(begun.map(({ items }) => items)).toEqual([['0 a'], ['1 a'], ['2 a']])
    begun[2]?.end()
    await nextTurn()
    await nextTurn()
    expect(begun[3]?.items).toEqual(['3 a', '3 b'])
    while (begun.length < 7) {
      for (const { end } of begun) end()
      await nextTurn()
    }
    for (const { end } of begun) end()
    expect(await Promise.all(answers)).toHaveLength(8)
  },
)

it('a run that fails rejects each of its own once, and those behind it go on', async () => {
  const { begun, writes } = setUp('postgres', 4)
  const answers = writes.flatMap((write, kind) => [write(`${kind} a`), write(`${kind} b`)])
  const settled = Promise.allSettled(answers)
  await nextTurn()
  const lost = new Error('the connection was lost')
  begun[1]?.fail(lost)
  await nextTurn()
  await nextTurn()
  expect(begun[3]?.items).toEqual(['3 a', '3 b'])
  for (const { end } of begun) end()
  const reasons = (await settled).map((one) => (one.status === 'rejected' ? one.reason : one.value))
  expect(reasons).toEqual(['0 a', '0 b', lost, lost, '2 a', '2 b', '3 a', '3 b'])
  expect(begun).toHaveLength(4)
})

it.each([
  [1, undefined],
  [2, 2],
])('has %i transactions under way on a file, asked for %s', async (count, runsOnFile) => {
  const { begun, writes } = setUp('sqlite', 1, (db, options) =>
    mergedTransactions(db, { ...options, ...(runsOnFile && { runsOnFile }) }),
  )
  const answers = ['a', 'b', 'c'].map((item) => writes[0]?.(item))
  await nextTurn()
  await nextTurn()
  expect(begun).toHaveLength(count)
  while (begun.flatMap(({ items }) => items).length < 3) {
    for (const { end } of begun) end()
    await nextTurn()
  }
  for (const { end } of begun) end()
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c'])
})

it.each(['sqlite', 'in-memory'] as const)('runs each at once on %s', async (backend) => {
  const { begun, writes } = setUp(backend, 5)
  const answers = writes.flatMap((write, kind) => [write(`${kind} a`), write(`${kind} b`)])
  expect(begun).toHaveLength(10)
  for (const { end } of begun) end()
  expect(await Promise.all(answers)).toHaveLength(10)
})

import { expect, it } from 'vitest'
import { atEndOfTurn } from '../../kernel/clock.ts'
import type { Database } from '../database.ts'
import { mergedWrites } from './merged-writes.ts'

const nextTurn = () => new Promise<void>((resolve) => atEndOfTurn(resolve))

/** Merged writes of some kinds, which end when the test says so. */
function setUp(backend: Database['backend'], kinds: number) {
  const db = { backend } as unknown as Database
  const begun: { items: readonly string[]; end: () => void }[] = []
  const writes = Array.from({ length: kinds }, () =>
    mergedWrites<string, string>(db, {
      itemsMax: 100,
      async run(items) {
        const { promise, resolve } = Promise.withResolvers<void>()
        begun.push({ items, end: resolve })
        await promise
        return items.map((item) => ({ ok: true, value: item }))
      },
    }),
  )
  return { begun, writes }
}

it('runs three kinds at once on PostgreSQL; what comes meanwhile joins the others', async () => {
  const { begun, writes } = setUp('postgres', 4)
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
})

it.each(['sqlite', 'in-memory'] as const)('runs each at once on %s', async (backend) => {
  const { begun, writes } = setUp(backend, 5)
  const answers = writes.flatMap((write, kind) => [write(`${kind} a`), write(`${kind} b`)])
  expect(begun).toHaveLength(10)
  for (const { end } of begun) end()
  expect(await Promise.all(answers)).toHaveLength(10)
})

import { expect, it } from 'vitest'
import { inTheirOrder } from './in-their-order.ts'

it('[O-TX-5] reports statements by the first that failed, also when another fails earlier', async () => {
  const seen: string[] = []
  const failing = async (name: string, turns: number): Promise<never> => {
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
    seen.push(name)
    throw new Error(name)
  }
  const sent = [Promise.resolve(1), failing('first', 9), failing('second', 0)] as const
  await expect(inTheirOrder(sent)).rejects.toThrow('first')
  expect(seen).toEqual(['second', 'first'])
})

it('answers what each of them has answered', async () => {
  expect(await inTheirOrder([Promise.resolve(1), Promise.resolve('a')])).toEqual([1, 'a'])
  expect(await inTheirOrder([])).toEqual([])
})

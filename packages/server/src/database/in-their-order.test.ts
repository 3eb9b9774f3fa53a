import { expect, it } from 'vitest'
import { inTheirOrder } from './in-their-order.ts'

it('[O-TX-5] tells of statements by the first that failed, also when another tells earlier', async () => {
  const told: string[] = []
  const failing = async (name: string, turns: number): Promise<never> => {
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
    told.push(name)
    throw new Error(name)
  }
  const sent = [Promise.resolve(1), failing('first', 9), failing('second', 0)] as const
  await expect(inTheirOrder(sent)).rejects.toThrow('first')
  expect(told).toEqual(['second', 'first'])
})

it('answers what each of them has answered', async () => {
  expect(await inTheirOrder([Promise.resolve(1), Promise.resolve('a')])).toEqual([1, 'a'])
  expect(await inTheirOrder([])).toEqual([])
})

import { expect, test } from 'vitest'
import { compareInTurn, middleOf, ratios } from './rounds.ts'

/** Sides that answer these figures one after the other, and record who was asked when. */
function scripted(products: number[], baselines: number[]) {
  const asked: string[] = []
  const next = (name: string, figures: number[]) => async () => {
    asked.push(name)
    return figures.shift() ?? Number.NaN
  }
  const sides = {
    product: next('product', products),
    baseline: next('baseline', baselines),
    ratioOf: (ours: number, theirs: number) => ours / theirs,
  }
  return { sides, asked }
}

test('product and baseline take turns in going first', async () => {
  const { sides, asked } = scripted([1, 1, 1, 1], [1, 1, 1, 1])
  await compareInTurn(sides, { rounds: 3, warmUps: 1 })
  const turn = ['baseline', 'product', 'product', 'baseline']
  expect(asked).toEqual([...turn, ...turn])
})

test('each round is compared within itself, and the middle one counts', async () => {
  const { sides } = scripted([8, 30, 10], [10, 60, 10])
  const compared = await compareInTurn(sides, { rounds: 3, warmUps: 0 })
  expect(compared).toMatchObject({ product: 8, baseline: 10, ratio: 0.8 })
  expect(ratios(compared)).toBe('ratios 0.80, 0.50, 1.00')
})

test('warm-ups are played and not counted', async () => {
  const { sides } = scripted([100, 100, 8], [1, 1, 10])
  const compared = await compareInTurn(sides, { rounds: 1, warmUps: 2 })
  expect(compared.rounds).toEqual([{ product: 8, baseline: 10, ratio: 0.8 }])
})

test('of an even number the upper middle is taken, and nothing has none', () => {
  expect(middleOf([4, 1, 3, 2], (each) => each)).toBe(3)
  expect(() => middleOf([], Number)).toThrow('nothing has no middle')
})

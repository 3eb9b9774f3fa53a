import { expect, it } from 'vitest'
import { createRandom } from './random.ts'
import { chooseMoment } from './schedule.ts'

function momentsOf(seed: number) {
  const random = createRandom(seed)
  const met = new Set<string>()
  return Array.from({ length: 1000 }, (_, at) => {
    const moment = chooseMoment(random, { isFirst: at % 10 === 0, met })
    if (at % 10 > 0) met.add(moment.during)
    return moment
  })
}

const stretches = ['start', 'first answers', 'load', 'full load', 'shutdown']

it('chooses the same moments for the same seed, and others for another', () => {
  expect(momentsOf(7)).toEqual(momentsOf(7))
  expect(momentsOf(7)).not.toEqual(momentsOf(8))
})

it('kills in every stretch of a life, the first of each store in its start', () => {
  const moments = momentsOf(7)
  for (const during of stretches) {
    const share = moments.filter((moment) => moment.during === during).length / moments.length
    expect([during, share > 0.05]).toEqual([during, true])
  }
  const first = moments.filter((_, at) => at % 10 === 0)
  expect(new Set(first.map(({ during }) => during))).toEqual(new Set(['start']))
})

it('kills once in every stretch, an old store in its start too, before it does so again', () => {
  const seeds = Array.from({ length: 40 }, (_, seed) => seed)
  const orders = seeds.map((seed) =>
    momentsOf(seed)
      .slice(1, 6)
      .map(({ during }) => during),
  )
  for (const order of orders) expect(new Set(order)).toEqual(new Set(stretches))
  expect(new Set(orders.map(String)).size).toBeGreaterThan(5)
})

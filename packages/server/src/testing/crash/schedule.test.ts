import { expect, it } from 'vitest'
import { createRandom } from './random.ts'
import { chooseMoment } from './schedule.ts'

function momentsOf(seed: number) {
  const random = createRandom(seed)
  return Array.from({ length: 1000 }, (_, at) => chooseMoment(random, { isFirst: at % 10 === 0 }))
}

it('chooses the same moments for the same seed, and others for another', () => {
  expect(momentsOf(7)).toEqual(momentsOf(7))
  expect(momentsOf(7)).not.toEqual(momentsOf(8))
})

it('kills in every stretch of a life, the first of each store in its start', () => {
  const moments = momentsOf(7)
  const stretches = ['start', 'first answers', 'load', 'full load', 'shutdown']
  for (const during of stretches) {
    const share = moments.filter((moment) => moment.during === during).length / moments.length
    expect([during, share > 0.05]).toEqual([during, true])
  }
  const first = moments.filter((_, at) => at % 10 === 0)
  expect(new Set(first.map(({ during }) => during))).toEqual(new Set(['start']))
})

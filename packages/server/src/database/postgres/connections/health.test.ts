import { expect, it } from 'vitest'
import { DatabaseUnavailable } from '../../database.ts'
import { Health } from './health.ts'

it('[O-FLT-1] two failed probes in a row make a server down, and one good probe makes it up', () => {
  let downs = 0
  const health = new Health(() => {
    downs += 1
  })
  const story: [event: 'error' | 'good' | 'bad', state: string, downs: number][] = [
    ['error', 'suspect', 0],
    ['error', 'suspect', 0],
    ['good', 'up', 0],
    ['bad', 'suspect', 0],
    ['good', 'up', 0],
    ['bad', 'suspect', 0],
    ['bad', 'down', 1],
    ['bad', 'down', 1],
    ['error', 'down', 1],
    ['good', 'up', 1],
    ['bad', 'suspect', 1],
    ['bad', 'down', 2],
  ]
  for (const [event, state, count] of story) {
    if (event === 'error') health.suspect()
    else health.probed(event === 'good')
    expect([event, health.state, downs]).toEqual([event, state, count])
  }
  expect(() => health.check()).toThrow(DatabaseUnavailable)
})

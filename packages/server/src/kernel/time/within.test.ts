import { expect, it } from 'vitest'
import { createFakeClock } from '../clock.fake.ts'
import { late, within } from './within.ts'

it('answers what is done in time', async () => {
  const clock = createFakeClock()
  expect(await within(clock, 10, Promise.resolve(1))).toBe(1)
  await expect(within(clock, 10, Promise.reject(new Error('on purpose')))).rejects.toThrow(
    'on purpose',
  )
})

it('answers that it is late, and leaves the work as it is', async () => {
  const clock = createFakeClock()
  const work = Promise.withResolvers<number>()
  const outcome = within(clock, 10, work.promise)
  await clock.advance(10)
  expect(await outcome).toBe(late)
  work.resolve(2)
  expect(await work.promise).toBe(2)
})

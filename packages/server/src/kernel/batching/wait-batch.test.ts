import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../clock.fake.ts'
import { createWaitBatch } from './wait-batch.ts'

function setUp() {
  const clock = createFakeClock()
  const worked: string[] = []
  const batch = createWaitBatch<string>({ clock, waitMs: 2 }, (item) => worked.push(item))
  const pass = (halves: number) => clock.advance(halves / 2)
  return { pass, worked, batch }
}

describe('a batch of items that wait', () => {
  it('works on each after half of its time at least, and all of it at most', async () => {
    const { pass, worked, batch } = setUp()
    batch.add('first')
    await pass(1)
    batch.add('later in the same half')
    await pass(1)
    batch.add('in the next half')
    await pass(1)
    expect(worked).toEqual([])
    await pass(1)
    expect(worked).toEqual(['first', 'later in the same half'])
    await pass(2)
    expect(worked).toEqual(['first', 'later in the same half', 'in the next half'])
  })

  it('lets an item that was removed begin anew', async () => {
    const { pass, worked, batch } = setUp()
    batch.add('a')
    await pass(3)
    batch.remove('a')
    batch.add('a')
    await pass(1)
    expect(worked).toEqual([])
    await pass(2)
    expect(worked).toEqual(['a'])
    await pass(20)
    expect(worked).toEqual(['a'])
  })

  it('does not let an item wait longer that is added again', async () => {
    const { pass, worked, batch } = setUp()
    batch.add('a')
    await pass(3)
    batch.add('a')
    await pass(1)
    expect(worked).toEqual(['a'])
    await pass(20)
    expect(worked).toEqual(['a'])
  })
})

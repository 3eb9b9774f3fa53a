import { expect, test } from 'vitest'
import { createRecordedLog } from '../../../../kernel/log/log.fake.ts'
import { busyClock } from '../../../../kernel/time/busy-clock.fixture.ts'
import { readCriteria } from './criteria.ts'
import { createExpiry } from './expiry.ts'
import { Ticket } from './ticket.ts'
import { createTicketQueue } from './ticket-queue.ts'

function start(expireMs: number) {
  const { clock, work, slices } = busyClock()
  const log = createRecordedLog()
  const queue = createTicketQueue(clock)
  const over: string[] = []
  const expiry = createExpiry({
    clock,
    log,
    queue,
    expired({ id }) {
      work(expireMs)
      over.push(id)
    },
  })
  function add(id: string, ttl_ms: number): void {
    const criteria = readCriteria({ ttl_ms }, { default_ttl_ms: 1, max_ttl_ms: 60_000 })
    if (typeof criteria === 'string') throw new Error(criteria)
    const createdMs = clock.monotonicMs()
    queue.add(
      new Ticket({ asked: '', id, criteria, accounts: [id], partyId: undefined, createdMs }),
    )
  }
  return { clock, slices, log, queue, over, expiry, add }
}

test('[R-MM-9] tickets leave by their time to live, of whatever age', async () => {
  const { clock, queue, over, expiry, add } = start(0)
  add('late', 5000)
  add('soon', 1000)
  await clock.advance(999)
  expect(over).toEqual([])
  await clock.advance(101)
  expect(over).toEqual(['soon'])
  await clock.advance(4000)
  expect([over, queue.size]).toEqual([['soon', 'late'], 0])
  expiry.stop()
})

test('[R-MM-9] many whose time is over at once do not keep the node', async () => {
  const { clock, slices, queue, over, expiry, add } = start(0.1)
  for (let count = 0; count < 500; count += 1) add(`t${count}`, 1000)
  await clock.advance(1000)
  expect(queue.size).toBeGreaterThan(0)
  await clock.advance(1000)
  expect([over.length, queue.size]).toEqual([500, 0])
  expect(slices.length).toBeGreaterThan(10)
  for (const { tookMs } of slices) expect(tookMs).toBeLessThanOrEqual(1 + 3.2)
  expiry.stop()
})

test('[R-MM-9] what fails with one ticket is logged, and the others go on', async () => {
  const { clock, log, queue, expiry, add } = start(0)
  add('bad', 1000)
  add('good', 1000)
  const { finish } = queue
  let failures = 1
  queue.finish = (...finished) => {
    failures -= 1
    if (failures >= 0) throw new Error('a bug')
    finish(...finished)
  }
  await clock.advance(1000)
  expect(log.lines).toMatchObject([{ message: 'tickets could not be taken out' }])
  await clock.advance(100)
  expect(queue.size).toBe(0)
  expiry.stop()
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFakeClock } from '../kernel/clock.fake.ts'
import { createDeadlineQueue } from '../kernel/time/deadline-queue.ts'
import { createConnectionCaps } from './connection/connection-caps.ts'
import { TokenBuckets } from './connection/inbound/token-buckets.ts'
import { createGatewayMetrics } from './metrics.ts'
import { transportConfig } from './realtime.fixture.ts'

const rates = {
  inbound_envelopes_per_sec: 100,
  inbound_envelope_burst: 10,
  inbound_bytes_per_sec: 1000,
  inbound_bytes_burst: 5000,
}

test('[R-LIM-3] the burst is there at once, and the rate refills it', () => {
  const buckets = bucketsWith(rates)
  const first = Array.from({ length: 10 }, () => buckets.spend(1))
  expect(first).toEqual([...new Array(9).fill(true), false])
  expect(buckets.refill(9)).toBe(false)
  expect(buckets.refill(11)).toBe(true)
  expect(buckets.spend(1)).toBe(false)
})

test('[R-LIM-3] bytes are counted apart from envelopes, and a debt is paid off', () => {
  const buckets = bucketsWith(rates)
  expect(buckets.spend(6000)).toBe(false)
  expect(buckets.refill(1000)).toBe(false)
  expect(buckets.refill(1001)).toBe(true)
})

test('[R-LIM-3] a rate of 0 is unlimited', () => {
  const buckets = bucketsWith({ inbound_envelopes_per_sec: 0, inbound_bytes_per_sec: 0 })
  for (let count = 0; count < 5000; count += 1) expect(buckets.spend(100_000)).toBe(true)
})

test('[R-LIM-3] no pattern of sending gets more than burst plus rate times time', () => {
  const pattern = fc.array(fc.record({ waitMs: fc.nat(500), bytes: fc.nat(400) }), {
    maxLength: 80,
    size: 'max',
  })
  fc.assert(
    fc.property(pattern, (steps) => {
      const buckets = bucketsWith(rates)
      let nowMs = 0
      let envelopes = 0
      let taken = 0
      let open = true
      for (const { waitMs, bytes } of steps) {
        nowMs += waitMs
        open = buckets.refill(nowMs)
        for (let count = 0; open && count < 20; count += 1) {
          open = buckets.spend(bytes)
          envelopes += 1
          taken += bytes
        }
        expect(envelopes).toBeLessThanOrEqual(10 + nowMs / 10 + 1e-6)
        // The last one may go into debt, by less than it has itself.
        expect(taken).toBeLessThan(5000 + nowMs + 400 + 1e-6)
      }
    }),
  )
})

test('full buckets need not be kept', () => {
  const buckets = bucketsWith(rates)
  buckets.spend(1)
  expect(buckets.isFull()).toBe(false)
  buckets.refill(10_000)
  expect(buckets.isFull()).toBe(true)
})

test('[R-LIM-3] buckets are kept until both are full', () => {
  const bytes = bucketsWith(rates)
  bytes.spend(5500)
  bytes.refill(1000)
  expect(bytes.isFull()).toBe(false)
  bytes.refill(5500)
  expect(bytes.isFull()).toBe(true)
  const envelopes = bucketsWith({ ...rates, inbound_envelopes_per_sec: 1 })
  envelopes.spend(0)
  envelopes.spend(0)
  envelopes.refill(1999)
  expect(envelopes.isFull()).toBe(false)
  envelopes.refill(2000)
  expect(envelopes.isFull()).toBe(true)
})

test('[R-LIM-1] the caps count in total and per source, and loopback in total only', () => {
  const metrics = createGatewayMetrics()
  const { limits } = transportConfig({
    limits: { max_connections: 4, max_connections_per_address: 2 },
  })
  const caps = createConnectionCaps(limits, metrics)
  caps.opened('203.0.113.1')
  expect(caps.refuses('203.0.113.1')).toBe(false)
  caps.opened('203.0.113.1')
  expect(caps.refuses('203.0.113.1')).toBe(true)
  expect(caps.refuses('203.0.113.2')).toBe(false)
  caps.opened(undefined)
  caps.opened(undefined)
  expect(caps.refuses(undefined)).toBe(true)
  caps.closed(undefined)
  caps.closed('203.0.113.1')
  expect(caps.refuses('203.0.113.1')).toBe(false)
  expect(metrics.connections_refused_total).toBe(2)
})

test('[R-LIM-2] connections without a decision are capped', () => {
  const { limits } = transportConfig({ limits: { max_pending_handshakes: 1 } })
  const caps = createConnectionCaps(limits, createGatewayMetrics())
  caps.opened(undefined)
  expect(caps.refuses('203.0.113.1')).toBe(true)
  caps.decided()
  expect(caps.refuses('203.0.113.1')).toBe(false)
})

test('a deadline queue has one timer, keeps the order and forgets what was removed', async () => {
  const clock = createFakeClock()
  const due: string[] = []
  const queue = createDeadlineQueue<string>({ clock, delayMs: 100 }, (item) => {
    due.push(item)
    if (item === 'b') queue.remove('c')
  })
  for (const item of ['a', 'b', 'c', 'd']) {
    queue.add(item)
    await clock.advance(10)
  }
  queue.add('a')
  expect(clock.timersWaiting()).toBe(1)
  await clock.advance(90)
  expect(due).toEqual(['b', 'd'])
  await clock.advance(10)
  expect(due).toEqual(['b', 'd', 'a'])
  expect([queue.size, clock.timersWaiting()]).toEqual([0, 0])
  queue.add('e')
  queue.remove('e')
  expect(clock.timersWaiting()).toBe(0)
})

function bucketsWith(limits: Parameters<typeof transportConfig>[0]['limits'] & object) {
  return new TokenBuckets(transportConfig({ limits }).limits, 0)
}

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { summaryOf } from '../analysis/spacings.ts'
import { createServerSide, middleOf, serverFacts, stepOf } from './server-side.ts'

it('[L-SRV-1] counts what was asked for, by direction and delivery', async () => {
  const clock = createFakeClock()
  const filters = [
    { kind: 2, direction: 'inbound' },
    { kind: 1, direction: 'outbound' },
  ] as const
  const { observer, counted } = createServerSide(clock, filters)
  for (let tick = 0; tick < 40; tick += 1) {
    observer.queued(2, true, 16)
    observer.queued(100, false, 5)
    observer.received(2, false, 5)
    if (tick % 2 === 0) observer.received(1, false, 8)
    await clock.advance(50)
  }
  expect(counted()).toMatchObject([
    { kind: 2, direction: 'inbound', delivery: 'datagram', records: 40, body_bytes: 640 },
    { kind: 1, direction: 'outbound', delivery: 'reliable', records: 20, max_us: 100_000 },
  ])
  const [inbound] = counted()
  if (inbound === undefined) throw new Error('nothing was counted')
  const summary = summaryOf(serverFacts(inbound, 9), 20)
  expect(summary).toMatchObject({
    key: { participant: 9, packet_kind: 2 },
    quality: 'ok',
    mean_interarrival_us: 50_000,
    max_interarrival_us: 50_000,
    histogram: { counts: [0, 0, 0, 0, 0, 39, 0, 0], overflow_count: 0 },
  })
  expect(Math.abs((summary.p95_interarrival_us ?? 0) - 50_000)).toBeLessThan(50_000 / 32)
  expect(summary.cadence_residual_p95_us).toBeLessThan(50_000 / 32)
})

it('[L-SRV-1] the steps of spacings are off by at most 1/32, and exact below 64 us', () => {
  for (let us = 0; us < 64; us += 1) expect(middleOf(stepOf(us))).toBe(us)
  fc.assert(
    fc.property(fc.integer({ min: 64, max: 0xffffffff }), (us) => {
      expect(Math.abs(middleOf(stepOf(us)) - us)).toBeLessThanOrEqual(us / 32)
      expect(stepOf(us)).toBeLessThan(928)
    }),
  )
})

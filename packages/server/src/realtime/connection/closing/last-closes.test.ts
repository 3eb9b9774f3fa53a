import { kinds, sessionInfoBody, sessionOptionsBody } from '@guildhall/contract'
import { afterEach, expect, test } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import {
  type RealtimeFixture,
  startRealtime,
  type TestClient,
  waiting,
} from '../../realtime.fixture.ts'
import { createLastCloses } from './last-closes.ts'

let realtime: RealtimeFixture
afterEach(() => realtime?.close())

test('[R-SDK-27] a 4008 that was not delivered is reported once, by the next connection', async () => {
  await loseSlowly()
  const next = await realtime.join('t-ann')
  expect(await lastClose(next)).toBe(4008)
  expect(await lastClose(next)).toBeNull()
  next.end()
  expect(await lastClose(await realtime.join('t-ann'))).toBeNull()
})

test('[R-SDK-27] also while the old connection has not given up', async () => {
  await loseSlowly({ untilGone: false })
  expect(await lastClose(await realtime.join('t-ann'))).toBe(4008)
})

test('[R-SDK-27] not to another session, and not after a minute', async () => {
  await loseSlowly()
  expect(await lastClose(await realtime.join('t-bob'))).toBeNull()
  expect(await lastClose(await realtime.join())).toBeNull()
  await realtime.clock.advance(60_000)
  expect(await lastClose(await realtime.join('t-ann'))).toBeNull()
})

test('[R-SDK-27] a 4008 that arrived is not reported again', async () => {
  const client = await loseSlowly({ untilGone: false })
  client.resume()
  expect(await client.closed).toMatchObject({ code: 4008 })
  await expect.poll(() => realtime.gateway.metrics().connections_active, waiting).toBe(0)
  expect(await lastClose(await realtime.join('t-ann'))).toBeNull()
})

test('[R-SDK-27] what is kept is bounded, and for a minute', async () => {
  const clock = createFakeClock()
  const closes = createLastCloses(clock, 100)
  for (let session = 0; session < 150; session += 1) closes.add(`s${session}`, 4008)
  expect([closes.size, closes.take('s49'), closes.take('s50')]).toEqual([100, null, 4008])
  await clock.advance(60_000)
  closes.add('late', 4008)
  expect(closes.size).toBe(1)
})

/** Ann's client does not read until the node gives it up. */
async function loseSlowly({ untilGone = true } = {}): Promise<TestClient> {
  realtime = await startRealtime({ limits: { reliable_queue_bytes: 1_000_000 } })
  const client = await realtime.join('t-ann')
  client.pause()
  const slow = () => realtime.gateway.metrics().slow_consumer_closes_total
  // The system takes some megabytes before it keeps the peer waiting.
  await expect
    .poll(() => {
      for (let sent = 0; sent < 8; sent += 1) send(new Uint8Array(60_000))
      return slow()
    }, waiting)
    .toBe(1)
  if (!untilGone) return client
  await realtime.clock.advance(2000)
  await expect.poll(() => realtime.gateway.metrics().connections_active, waiting).toBe(0)
  return client
}

function send(body: Uint8Array): void {
  realtime.gateway.send({ kind: 100, body, unreliable: false, participants: [1] })
}

async function lastClose(client: TestClient): Promise<number | null | undefined> {
  client.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: 0 }))
  return sessionInfoBody.decode((await client.next()).body).last_close
}

import { expect, test } from 'vitest'
import { createFakeClock } from '../../../../../kernel/clock.fake.ts'
import { Closings } from './closings.ts'
import type { CoreServer } from './core.ts'
import { Peer } from './peer.ts'

test('[R-QU-11] a turn looks at the closes that are due or whose peers were heard of', async () => {
  const clock = createFakeClock()
  const closed: number[] = []
  let looks = 0
  const unacknowledged = new Map<number, number>()
  const server = {
    send: () => true,
    flush: () => {},
    close: (handle: number) => closed.push(handle),
    roundTripMs: () => 10,
    memoryOf: (handle: number) => ({
      unacknowledgedBytes() {
        looks += 1
        return unacknowledged.get(handle) ?? 0
      },
    }),
  } as unknown as CoreServer
  const closings = new Closings({
    ...{ clock, sendPacket() {}, count() {} },
    servers: { touch() {} },
    routes: { shut() {} },
  })
  const peers = Array.from({ length: 1000 }, (_, handle) => {
    const at = { host: '127.0.0.1', address: '127.0.0.1:1', key: '', server, handle }
    const peer = new Peer(handle, at)
    unacknowledged.set(handle, 1)
    peer.send({ stream: 3, bytes: new Uint8Array(1), fin: false }, clock.monotonicMs())
    const how = { code: 1000, reason: new Uint8Array(), drains: true }
    peer.beginClose(how, clock.monotonicMs())
    closings.await(peer)
    return peer
  })
  const turn = () => {
    closings.sendDue()
    return closings.dueInMs(clock.monotonicMs())
  }
  looks = 0
  expect([turn(), looks, closed]).toEqual([1000, 0, []])

  const [first, second] = peers
  unacknowledged.set(0, 0)
  if (first !== undefined) closings.changed(first)
  expect([turn(), closed]).toEqual([50, []])
  expect(looks).toBeLessThan(5)
  await clock.advance(50)
  expect([turn(), closed]).toEqual([950, [0]])

  if (second !== undefined) closings.forget(second)
  await clock.advance(950)
  turn()
  expect(closed).toHaveLength(999)
  expect(turn()).toBe(Number.POSITIVE_INFINITY)
})

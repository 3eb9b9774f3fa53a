import { expect, test } from 'vitest'
import { createMemoryDirectory } from '../../cluster/directory/memory-directory.ts'
import { createFakeClock, type FakeClock } from '../clock.fake.ts'
import { createRecordedLog } from '../log/log.fake.ts'
import type { Directory } from './directory.ts'
import { ClusterMismatch, Membership } from './membership.ts'

const leaseMs = 6000

/** A directory whose answers can be held back, or made to fail. */
function createMoody() {
  const directory = createMemoryDirectory()
  let held: PromiseWithResolvers<void> | undefined
  let isFailing = false
  const moody = Object.fromEntries(
    Object.entries(directory).map(([name, operation]) => [
      name,
      async (...given: unknown[]) => {
        await held?.promise
        if (isFailing) throw new Error('on purpose')
        return Reflect.apply(operation, undefined, given)
      },
    ]),
  ) as unknown as Directory
  return {
    directory: moody,
    hold() {
      held = Promise.withResolvers()
    },
    free() {
      held?.resolve()
      held = undefined
    },
    fail(fails: boolean) {
      isFailing = fails
    },
  }
}

function createMember(name: string, directory: Directory, clock: FakeClock, settings = {}) {
  const lost: number[] = []
  const log = createRecordedLog()
  const membership = new Membership({
    ...{ directory, clock, leaseMs, log },
    node: { node_id: name, boot_id: `bt1-${name}`, version: '1.0.0', settings },
    load: () => ({ rooms: 1, connections: 2 }),
    onLost: () => void lost.push(clock.monotonicMs()),
  })
  return { membership, lost, log }
}

test('[R-CL-2] a lease is held for two thirds of its life, from before it was asked for', async () => {
  const clock = createFakeClock()
  const { directory, fail } = createMoody()
  const { membership } = createMember('a', directory, clock)
  await membership.start()
  const before = membership.epoch()
  fail(true)
  await clock.advance((leaseMs * 2) / 3 - 1)
  expect(membership.holdsLease()).toBe(true)
  await clock.advance(1)
  expect(membership.holdsLease()).toBe(false)
  expect(membership.epoch()).toBe(before + 1)
  fail(false)
  await clock.advance(leaseMs / 3)
  expect(membership.holdsLease()).toBe(true)
  expect(membership.epoch()).toBe(before + 1)
})

test('[R-CL-2] a boot is gone once it was seen without a renewal for the life of a lease', async () => {
  const clock = createFakeClock()
  const shared = createMemoryDirectory()
  const { directory, fail } = createMoody()
  const silent = createMember('a', shared, clock).membership
  const { membership: watching, log } = createMember('b', shared, clock)
  await silent.start()
  await watching.start()
  await clock.advance(leaseMs)
  expect(watching.isThere('bt1-a')).toBe(true)
  // It is killed: nothing of it runs any more.
  await silent.stop()
  await shared.claimSlot({
    ...{ node_id: 'c', boot_id: 'bt1-c', version: '1.0.0', state: 'live', settings: {} },
  })
  await watching.refresh()
  expect(watching.isThere('bt1-a')).toBe(false)
  expect(watching.isThere('bt1-c')).toBe(true)
  await clock.advance(leaseMs - 1)
  expect(watching.isThere('bt1-c')).toBe(true)
  await clock.advance(leaseMs / 3 + 1)
  expect(watching.isThere('bt1-c')).toBe(false)
  expect(watching.gone()).toMatchObject([{ boot_id: 'bt1-c', renewals: 1 }])
  const saidGone = ({ lines }: typeof log) => lines.map(({ fields }) => fields.gone_node_id)
  expect(saidGone(log)).toEqual(['c'])
  // Who comes later has never seen it alive.
  const late = createMember('d', shared, clock)
  await late.membership.start()
  await clock.advance(leaseMs * 2)
  expect(late.membership.isThere('bt1-c')).toBe(false)
  expect(saidGone(late.log)).toEqual([])
  await late.membership.stop()
  // Its slot stays its own for ten minutes.
  await clock.advance(580_000 - leaseMs * 2)
  expect(watching.nodes()).toHaveLength(2)
  await clock.advance(20_000)
  expect(watching.nodes()).toHaveLength(1)
  fail(true)
  await expect(directory.nodes()).rejects.toThrow('on purpose')
})

test('[R-CL-2, R-CL-13] after an outage of the database everybody has time to renew', async () => {
  const clock = createFakeClock()
  const { directory, hold, free } = createMoody()
  const [a, b] = ['a', 'b'].map((name) => createMember(name, directory, clock).membership)
  await a?.start()
  await b?.start()
  await clock.advance(leaseMs)
  hold()
  await clock.advance(30_000)
  expect([a?.holdsLease(), b?.holdsLease()]).toEqual([false, false])
  free()
  await clock.advance(leaseMs / 3)
  expect([a?.isThere('bt1-b'), b?.isThere('bt1-a')]).toEqual([true, true])
  await clock.advance(leaseMs / 3)
  expect([a?.holdsLease(), b?.holdsLease()]).toEqual([true, true])
})

test('[R-CL-2] wall clocks that jump change nothing', async () => {
  const clock = createFakeClock()
  const directory = createMemoryDirectory()
  const [a, b] = ['a', 'b'].map((name) => createMember(name, directory, clock).membership)
  await a?.start()
  await b?.start()
  clock.setWall(clock.nowUnixMs() + 86_400_000)
  await clock.advance(3 * leaseMs)
  expect([a?.isThere('bt1-b'), b?.isThere('bt1-a'), a?.holdsLease()]).toEqual([true, true, true])
})

test('[R-CL-2] a boot whose slot was taken begins anew under another one', async () => {
  const clock = createFakeClock()
  const directory = createMemoryDirectory()
  const { membership, lost } = createMember('a', directory, clock)
  await membership.start()
  const [row] = await directory.nodes()
  if (row === undefined) throw new Error('no node')
  await directory.free(row)
  await clock.advance(leaseMs / 3)
  expect(lost).toHaveLength(1)
  expect(membership.slot).toBe(2)
  expect(membership.holdsLease()).toBe(true)
})

test('[R-CL-1] a start beside a live node with other settings names the key', async () => {
  const clock = createFakeClock()
  const directory = createMemoryDirectory()
  await createMember('a', directory, clock, { 'cluster.bus': 'nats' }).membership.start()
  const other = createMember('b', directory, clock, { 'cluster.bus': 'postgres' }).membership
  const started = other.start()
  await expect(started).rejects.toThrow(ClusterMismatch)
  await expect(started).rejects.toThrow('cluster.bus is postgres here and nats on the node a')
})

import { expect, test } from 'vitest'
import { createFakeClock } from '../../../../../kernel/clock.fake.ts'
import { Servers } from './servers.ts'

/** A server that says when its next timer is due, and counts how often they ran. */
class FakeServer {
  dueInMs: number | undefined
  timersRun = 0
  timeoutMs = () => this.dueInMs
  onTimeout = () => {
    this.timersRun += 1
  }
}

function start() {
  const clock = createFakeClock()
  const make = () => new FakeServer()
  const servers = new Servers<FakeServer, { server: FakeServer; handle: number }>(clock, make)
  let made = 0
  const join = (near?: FakeServer) => {
    made += 1
    const known = near === undefined ? [] : [{ server: near, handle: 0 }]
    const peer = { server: servers.forNew(known), handle: made }
    servers.add(peer)
    return peer
  }
  return { clock, make, servers, join }
}

test('[R-TR-3] a server has 16 connections, and a place that is free again is taken first', () => {
  const { servers, join } = start()
  const peers = Array.from({ length: 32 }, () => join())
  const [first, second] = new Set(peers.map(({ server }) => server))
  expect(peers.filter(({ server }) => server === first)).toHaveLength(16)
  expect(peers.filter(({ server }) => server === second)).toHaveLength(16)
  for (const peer of peers.slice(0, 2)) expect(servers.remove(peer)).toBe(false)
  expect([join().server, join().server]).toEqual([first, first])
  expect([first, second]).not.toContain(join().server)
})

test('[R-TR-3] connections that begin in one turn count, and count once', () => {
  const { servers } = start()
  const begun = Array.from({ length: 17 }, () => {
    const server = servers.forNew()
    servers.expect(server)
    servers.touch(server)
    return server
  })
  const [first, second] = new Set(begun)
  expect(begun.filter((server) => server === first)).toHaveLength(16)
  expect(second).toBeDefined()
  // The engine began none of them, so nobody has the first one.
  expect(servers.settle()).toEqual([first])
  const after = Array.from({ length: 16 }, () => {
    const server = servers.forNew()
    servers.expect(server)
    return server
  })
  expect(new Set(after)).toEqual(new Set([second]))
  expect([first, second]).not.toContain(servers.forNew())
})

test('[R-TLS-2] a server on which a connection begins stays, whatever its others do', () => {
  const { servers, join, make } = start()
  const before = join()
  const { server } = before
  servers.expect(server)
  servers.touch(server)
  expect(servers.renew(make)).toEqual([])
  expect(servers.remove(before)).toBe(false)
  const begun = { server, handle: 99 }
  servers.add(begun)
  expect(servers.settle()).toEqual([])
  expect(servers.remove(begun)).toBe(true)
})

test('[R-TLS-2] a server that was to have a connection which did not begin ends with the turn', () => {
  const { servers, make } = start()
  const server = servers.forNew()
  servers.expect(server)
  servers.touch(server)
  expect(servers.renew(make)).toEqual([])
  expect(servers.settle()).toEqual([server])
})

test('[R-LIM-1] connections of one address are on one server while it has room', () => {
  const { servers, join } = start()
  const peers = Array.from({ length: 20 }, () => join())
  const [{ server } = join(), second = join()] = peers
  servers.remove(second)
  for (let count = 0; count < 12; count += 1) join(peers.at(-1)?.server)
  expect(join(server).server).toBe(server)
  expect(join(server).server).not.toBe(server)
})

test('[R-TLS-2] another certificate has servers of its own, and the others end with their last', () => {
  const { servers, join, make } = start()
  const before = join()
  expect(servers.renew(make)).toEqual([])
  expect(join(before.server).server).not.toBe(before.server)
  expect(servers.find(before.server, before.handle)).toBe(before)
  expect(servers.remove(before)).toBe(true)
})

test('[R-TLS-2] a server that nobody has ends with its certificate, whatever has come for it', () => {
  const { servers, make } = start()
  const unused = servers.forNew()
  servers.touch(unused)
  expect(servers.renew(make)).toEqual([unused])
  expect([...servers.touched()]).toEqual([])
})

test('[R-TR-3] only those are looked at that something has happened to, timers included', async () => {
  const { clock, servers, join } = start()
  const one = join().server
  for (let count = 0; count < 16; count += 1) join()
  const other = servers.forNew()
  for (const server of [one, other]) {
    server.dueInMs = server === one ? 10 : 20
    servers.touch(server)
  }
  servers.settle()
  expect([...servers.touched()]).toEqual([])
  expect(servers.dueAtMs - clock.monotonicMs()).toBe(10)
  await clock.advance(10)
  servers.runTimers()
  expect([one.timersRun, other.timersRun]).toEqual([1, 0])
  expect([...servers.touched()]).toEqual([one])
})

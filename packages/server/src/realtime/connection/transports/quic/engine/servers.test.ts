import { describe, expect, test } from 'vitest'
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

test('[R-TR-3] a server has 4 connections, and a place that is free again is taken first', () => {
  const { servers, join } = start()
  const peers = Array.from({ length: 8 }, () => join())
  const [first, second] = new Set(peers.map(({ server }) => server))
  expect(peers.filter(({ server }) => server === first)).toHaveLength(4)
  expect(peers.filter(({ server }) => server === second)).toHaveLength(4)
  for (const peer of peers.slice(0, 2)) expect(servers.remove(peer)).toBe(false)
  expect([join().server, join().server]).toEqual([first, first])
  expect([first, second]).not.toContain(join().server)
})

test('[R-TR-3] connections that begin in one turn count, and count once', () => {
  const { servers } = start()
  const begun = Array.from({ length: 5 }, () => {
    const server = servers.forNew()
    servers.expect(server)
    servers.touch(server)
    return server
  })
  const [first, second] = new Set(begun)
  expect(begun.filter((server) => server === first)).toHaveLength(4)
  expect(second).toBeDefined()
  // The engine began none of them, so nobody has the first one.
  expect(servers.settle()).toEqual([first])
  const after = Array.from({ length: 4 }, () => {
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
  const peers = Array.from({ length: 6 }, () => join())
  const [{ server } = join(), second = join()] = peers
  servers.remove(second)
  for (let count = 0; count < 2; count += 1) join(peers.at(-1)?.server)
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
  for (let count = 0; count < 4; count += 1) join()
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

describe('an acknowledgement waits for an answer that it can leave with', () => {
  const ready = ({ servers }: ReturnType<typeof start>) => {
    const all = [...servers.ready()]
    servers.settle()
    return all
  }

  test('[R-TR-3] for 8 ms, or until something else happens to its server', async () => {
    const parts = start()
    const { clock, servers, join } = parts
    const { server } = join()
    servers.heard(server, 100)
    expect([...servers.touched()]).toEqual([server])
    expect(ready(parts)).toEqual([])
    expect(servers.dueAtMs - clock.monotonicMs()).toBe(8)
    servers.touch(server)
    expect(ready(parts)).toEqual([server])
    servers.heard(server, 100)
    expect(ready(parts)).toEqual([])
    await clock.advance(5)
    servers.heard(server, 100)
    expect(ready(parts)).toEqual([])
    await clock.advance(3)
    servers.runTimers()
    expect(ready(parts)).toEqual([server])
  })

  test('[R-QU-7] servers that have heard much are asked for events before the turn ends', () => {
    const { servers, join } = start()
    const { server } = join()
    servers.heard(server, 4095)
    expect(servers.haveMuch).toBe(false)
    servers.settle()
    servers.heard(server, 4095)
    expect(servers.haveMuch).toBe(false)
    servers.heard(server, 1)
    expect(servers.haveMuch).toBe(true)
    expect(servers.unasked()).toEqual([server])
    expect([servers.haveMuch, servers.unasked()]).toEqual([false, []])
  })

  test('[R-TR-3] not behind many bytes, whichever way they go', async () => {
    const parts = start()
    const { clock, servers, join } = parts
    const { server } = join()
    servers.heard(server, 4000)
    servers.heard(server, 97)
    expect(ready(parts)).toEqual([server])
    servers.sends(server, 4096)
    servers.heard(server, 40)
    expect(ready(parts)).toEqual([server])
    await clock.advance(1000)
    servers.heard(server, 40)
    expect(ready(parts)).toEqual([])
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFakeClock } from '../../../../../kernel/clock.fake.ts'
import type { PacketSource } from './admissions.ts'
import { DatagramGate, versionNegotiation } from './datagram-gate.ts'

const clock = createFakeClock()
const from = '203.0.113.9'
const source = sourceOf(from)

describe('what a peer that is not known may send', () => {
  const gate = newGate()
  test.each([
    ['an Initial without a token', packetOf({}), 'pass'],
    ['an Initial with a token', packetOf({ token: 9 }), 'begin'],
    ['an Initial that is longer than its datagram', packetOf({ tail: 1 }), 'drop'],
    ['an Initial of 1,199 bytes', packetOf({ bytes: 1199 }), 'drop'],
    ['a Handshake packet', packetOf({ first: 0xe0 }), 'drop'],
    ['another version', packetOf({ version: 0x6b3343cf }), 'negotiate'],
    ['another version in a small packet', packetOf({ version: 2, bytes: 100 }), 'drop'],
    ['an answer to no question', packetOf({ version: 0 }), 'drop'],
    ['a packet of no connection', new Uint8Array(1200), 'drop'],
    ['nothing', new Uint8Array(0), 'drop'],
    ['half a header', new Uint8Array([0xc0, 0, 0]), 'drop'],
  ] as const)('[R-QU-10] %s', (_what, packet, verdict) => {
    expect(gate.judge(packet, source)).toBe(verdict)
  })

  test('[R-QU-10] no bytes at all make it throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.constantFrom(0, 1200), (head, length) => {
        const packet = new Uint8Array(Math.max(head.length, length))
        packet.set(head)
        newGate().judge(packet, source)
        versionNegotiation(packet)
      }),
    )
  })
})

test('[R-QU-10] Version Negotiation names version 1, turns the ids round, and is smaller', () => {
  const packet = packetOf({
    version: 0x0a0a0a0a,
    ids: [
      [1, 2, 3],
      [4, 5],
    ],
  })
  const answer = versionNegotiation(packet) ?? new Uint8Array()
  expect([...answer]).toEqual([0x80, 0, 0, 0, 0, 2, 4, 5, 3, 1, 2, 3, 0, 0, 0, 1])
  expect(versionNegotiation(packet.subarray(0, 8))).toBeUndefined()
})

test('[R-QU-8] a packet of 0-RTT is dropped, whoever sends it', () => {
  const gate = newGate({ isKnown: () => true, stateOf: () => 'open' })
  expect(gate.judge(packetOf({ first: 0xd0 }), source)).toBe('drop')
  expect(gate.judge(packetOf({ first: 0xe0 }), source)).toBe('pass')
})

test('[R-QU-7] a packet that the engine has no room for is dropped, whoever sends it', () => {
  const gate = newGate({ isKnown: () => true })
  expect(gate.judge(new Uint8Array(2048), source)).toBe('pass')
  expect(gate.judge(new Uint8Array(2049), source)).toBe('drop')
})

describe('rates', () => {
  test('[R-QU-12] one address opens 20 connections a second, others are not in its way', () => {
    const gate = newGate()
    const verdicts = repeat(30, () => gate.judge(packetOf({ token: 1 }), source))
    expect(count(verdicts, 'begin')).toBe(20)
    expect(gate.judge(packetOf({ token: 1 }), sourceOf('203.0.113.10'))).toBe('begin')
  })

  test('[R-QU-12] all together open 200 a second, and loopback counts in these only', () => {
    const gate = newGate()
    const open = () => gate.judge(packetOf({ token: 1 }), sourceOf('127.0.0.1'))
    expect(count(repeat(300, open), 'begin')).toBe(200)
    expect(gate.judge(packetOf({ token: 1 }), source)).toBe('limited')
  })

  test('[R-QU-12] a second later there is room again', async () => {
    const gate = newGate()
    const open = () => gate.judge(packetOf({ token: 1 }), source)
    repeat(30, open)
    expect(open()).toBe('limited')
    await clock.advance(1000)
    expect(count(repeat(30, open), 'begin')).toBe(20)
  })

  test('[R-QU-12] a network of IPv6 is one address', () => {
    const gate = newGate()
    const open = (host: string) => gate.judge(packetOf({ token: 1 }), sourceOf(host))
    const verdicts = Array.from({ length: 30 }, (_, at) => open(`2001:db8::${at.toString(16)}`))
    expect(count(verdicts, 'begin')).toBe(20)
  })

  test('[R-QU-12] a token that is not of the node uses up nothing', () => {
    const gate = newGate({ isToken: () => false })
    const verdicts = repeat(300, () => gate.judge(packetOf({ token: 1 }), source))
    expect(count(verdicts, 'drop')).toBe(300)
  })

  test('[R-QU-12] beyond the bound of the engine all are refused, and who is there stays', () => {
    const known = sourceOf('203.0.113.10')
    const isKnown = (address: string) => address === known.address
    const gate = newGate({ connections: () => 5, isKnown })
    expect(gate.judge(packetOf({ token: 1 }), source)).toBe('refuse')
    expect(gate.judge(new Uint8Array(50), known)).toBe('pass')
  })

  test('[R-QU-12] packets of a connection that is there do not count', () => {
    const gate = newGate({ isKnown: () => true, stateOf: () => 'open' })
    const verdicts = repeat(500, () => gate.judge(packetOf({ token: 1 }), source))
    expect(count(verdicts, 'pass')).toBe(500)
  })

  test('[R-QU-12] a further connection of an address that is known counts', () => {
    const gate = newGate({ isKnown: () => true })
    const verdicts = repeat(30, () => gate.judge(packetOf({ token: 1 }), source))
    expect(count(verdicts, 'begin')).toBe(20)
  })

  test('[R-QU-12] one that waits for the node counts once', () => {
    const gate = newGate({ stateOf: () => 'waits' })
    expect(
      count(
        repeat(30, () => gate.judge(packetOf({ token: 1 }), source)),
        'wait',
      ),
    ).toBe(30)
  })
})

function newGate(deps: Partial<ConstructorParameters<typeof DatagramGate>[0]> = {}) {
  return new DatagramGate({
    clock,
    isKnown: () => false,
    stateOf: () => undefined,
    isToken: () => true,
    connections: () => 0,
    maxConnections: 5,
    isFull: () => false,
    ...deps,
  })
}

function sourceOf(host: string): PacketSource {
  return { host, port: 1, address: `${host}:1` }
}

type Made = {
  first?: number
  version?: number
  bytes?: number
  token?: number
  /** Bytes that are missing at the end. */
  tail?: number
  ids?: [number[], number[]]
}

function packetOf({
  first = 0xc0,
  version = 1,
  bytes = 1200,
  token = 0,
  tail = 0,
  ids,
}: Made): Uint8Array {
  const [destination, from] = ids ?? [[1, 2, 3, 4, 5, 6, 7, 8], []]
  const packet = Buffer.alloc(bytes)
  packet[0] = first
  packet.writeUInt32BE(version, 1)
  const head = [destination.length, ...destination, from.length, ...from]
  const length = bytes - 5 - head.length - 1 - token - 2 + tail
  packet.set([...head, token, ...Array(token).fill(7), ...varint16(length)], 5)
  return packet
}

function varint16(value: number): number[] {
  return [0x40 | (value >> 8), value & 0xff]
}

function repeat<T>(times: number, make: () => T): T[] {
  return Array.from({ length: times }, make)
}

function count(verdicts: readonly string[], verdict: string): number {
  return verdicts.filter((each) => each === verdict).length
}

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFakeClock } from '../../../../../kernel/clock.fake.ts'
import { DatagramGate, versionNegotiation } from './datagram-gate.ts'

const clock = createFakeClock()
const from = '203.0.113.9'

describe('what a peer that is not known may send', () => {
  const gate = newGate()
  test.each([
    ['an Initial without a token', packetOf({}), 'pass'],
    ['an Initial of 1,199 bytes', packetOf({ bytes: 1199 }), 'drop'],
    ['a Handshake packet', packetOf({ first: 0xe0 }), 'drop'],
    ['another version', packetOf({ version: 0x6b3343cf }), 'negotiate'],
    ['another version in a small packet', packetOf({ version: 2, bytes: 100 }), 'drop'],
    ['an answer to no question', packetOf({ version: 0 }), 'drop'],
    ['a packet of no connection', new Uint8Array(1200), 'drop'],
    ['nothing', new Uint8Array(0), 'drop'],
    ['half a header', new Uint8Array([0xc0, 0, 0]), 'drop'],
  ] as const)('[R-QU-10] %s', (_what, packet, verdict) => {
    expect(gate.judge(packet, from, `${from}:1`)).toBe(verdict)
  })

  test('[R-QU-10] no bytes at all make it throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.constantFrom(0, 1200), (head, length) => {
        const packet = new Uint8Array(Math.max(head.length, length))
        packet.set(head)
        newGate().judge(packet, from, `${from}:1`)
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

describe('rates', () => {
  test('[R-QU-12] one address opens 20 connections a second, others are not in its way', () => {
    const gate = newGate()
    const verdicts = repeat(30, () => gate.judge(packetOf({ token: 1 }), from, `${from}:1`))
    expect(count(verdicts, 'pass')).toBe(20)
    expect(gate.judge(packetOf({ token: 1 }), '203.0.113.10', '203.0.113.10:1')).toBe('pass')
  })

  test('[R-QU-12] all together open 200 a second, and loopback counts in these only', () => {
    const gate = newGate()
    const open = () => gate.judge(packetOf({ token: 1 }), '127.0.0.1', '127.0.0.1:1')
    expect(count(repeat(300, open), 'pass')).toBe(200)
    expect(gate.judge(packetOf({ token: 1 }), from, `${from}:1`)).toBe('limited')
  })

  test('[R-QU-12] a second later there is room again', async () => {
    const gate = newGate()
    const open = () => gate.judge(packetOf({ token: 1 }), from, `${from}:1`)
    repeat(30, open)
    expect(open()).toBe('limited')
    await clock.advance(1000)
    expect(count(repeat(30, open), 'pass')).toBe(20)
  })

  test('[R-QU-12] beyond the bound of the engine nobody comes in, and who is there stays', () => {
    const gate = newGate({ connections: () => 5, isKnown: (address) => address === 'a:1' })
    expect(gate.judge(packetOf({ token: 1 }), from, `${from}:1`)).toBe('limited')
    expect(gate.judge(new Uint8Array(50), 'a', 'a:1')).toBe('pass')
  })

  test('[R-QU-12] packets of a connection that is there do not count', () => {
    const gate = newGate({ isKnown: () => true })
    const verdicts = repeat(500, () => gate.judge(packetOf({ token: 1 }), from, `${from}:1`))
    expect(count(verdicts, 'pass')).toBe(500)
  })
})

function newGate(deps: Partial<ConstructorParameters<typeof DatagramGate>[0]> = {}) {
  const none = { isKnown: () => false, connections: () => 0, maxConnections: 5 }
  return new DatagramGate({ clock, ...none, ...deps })
}

type Made = {
  first?: number
  version?: number
  bytes?: number
  token?: number
  ids?: [number[], number[]]
}

function packetOf({ first = 0xc0, version = 1, bytes = 1200, token = 0, ids }: Made): Uint8Array {
  const [destination, source] = ids ?? [[1, 2, 3, 4, 5, 6, 7, 8], []]
  const packet = Buffer.alloc(bytes)
  packet[0] = first
  packet.writeUInt32BE(version, 1)
  const rest = [destination.length, ...destination, source.length, ...source, token]
  packet.set(rest, 5)
  return packet
}

function repeat<T>(times: number, make: () => T): T[] {
  return Array.from({ length: times }, make)
}

function count(verdicts: readonly string[], verdict: string): number {
  return verdicts.filter((each) => each === verdict).length
}

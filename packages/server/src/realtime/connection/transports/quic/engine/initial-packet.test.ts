import { describe, expect, test } from 'vitest'
import { openInitial } from './initial-packet.fixture.ts'
import { closeInitial, initialKeys, readInitial, sealInitial } from './initial-packet.ts'

const id = Buffer.from('8394c8f03e515708', 'hex')

/** The examples of RFC 9001, appendix A. */
test.each([
  [
    'client',
    '1f369613dd76d5467730efcbe3b1a22d',
    'fa044b2f42a3fd3b46fb255c',
    '9f50449e04a0e810283a1e9933adedd2',
  ],
  [
    'server',
    'cf3a5331653c364c88f0f379b6067e37',
    '0ac1493ca1905853b0bba03e',
    'c206b8d9b9f0f37644430b490eeaa314',
  ],
] as const)('[R-QU-12] keys of the %s are those of the standard', (side, key, iv, header) => {
  const keys = initialKeys(id, side)
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  expect({ key: hex(keys.key), iv: hex(keys.iv), header: hex(keys.header) }).toEqual({
    ...{ key, iv, header },
  })
})

describe('a packet', () => {
  const source = Uint8Array.of(1, 2, 3)
  const token = new Uint8Array(64).fill(9)
  const frames = new Uint8Array(1000).fill(1)
  const datagram = sealInitial({ destination: id, source, token }, frames, { id, from: 'client' })

  test('[R-QU-12] is read as it was written, with what follows it left out', () => {
    const initial = readInitial(Buffer.concat([datagram, new Uint8Array(50)]))
    expect(initial && Uint8Array.from(initial.token)).toEqual(token)
    expect(initial && Uint8Array.from(initial.source)).toEqual(source)
    expect(initial?.packet).toHaveLength(datagram.length)
    expect(initial && openInitial(initial, { id, from: 'client' })).toEqual(Buffer.from(frames))
    expect(initial && openInitial(initial, { id, from: 'server' })).toBeUndefined()
  })

  test('[R-QU-10] cut anywhere it is none', () => {
    for (let length = 0; length < datagram.length; length += 1) {
      expect(readInitial(datagram.subarray(0, length))).toBeUndefined()
    }
  })

  test('[R-QU-10, R-QU-12] a refusal names its code, turns the ids round, and is smaller', () => {
    const initial = readInitial(datagram)
    const refusal = initial && readInitial(closeInitial(initial, 2))
    expect(refusal && Uint8Array.from(refusal.destination)).toEqual(source)
    expect(refusal && Uint8Array.from(refusal.source)).toEqual(Uint8Array.from(id))
    expect(refusal?.packet.length).toBeLessThan(80)
    const open = refusal && openInitial(refusal, { id, from: 'server' })
    expect(open).toEqual(Buffer.from([0x1c, 2, 0, 0]))
  })
})

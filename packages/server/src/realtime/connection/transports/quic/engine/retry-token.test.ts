import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../../../../kernel/clock.fake.ts'
import { retryTokens } from './retry-token.ts'

const key = 'ab'.repeat(32)
const clock = createFakeClock()
const isToken = retryTokens(key, clock)
const peer = { host: '203.0.113.9', port: 4000 }
const addressV4 = [4, 203, 0, 113, 9, 0x0f, 0xa0]

test('[R-QU-12] a token holds for the address that it was given to, and for a minute', () => {
  const token = tokenOf(addressV4)
  expect(isToken(token, peer)).toBe(true)
  expect(isToken(token, { ...peer, port: 4001 })).toBe(false)
  expect(isToken(token, { ...peer, host: '203.0.113.10' })).toBe(false)
  expect(isToken(tokenOf(addressV4, 61), peer)).toBe(false)
  expect(isToken(tokenOf(addressV4, 59), peer)).toBe(true)
})

test('[R-QU-12] a token that was changed, cut or made by others is none', () => {
  const token = tokenOf(addressV4)
  for (const at of token.keys()) {
    const changed = Buffer.from(token)
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(isToken(changed, peer)).toBe(false)
    expect(isToken(token.subarray(0, at), peer)).toBe(false)
  }
  expect(retryTokens('cd'.repeat(32), clock)(token, peer)).toBe(false)
})

test.each([
  ['2001:db8::7', [0x20, 0x01, 0x0d, 0xb8, ...zeros(11), 7]],
  ['::1', [...zeros(15), 1]],
  ['::ffff:192.0.2.1', [...zeros(10), 0xff, 0xff, 192, 0, 2, 1]],
  ['fe80::1%eth0', [0xfe, 0x80, ...zeros(13), 1]],
])('[R-QU-12] an address of IPv6 has 16 bytes: %s', (host, bytes) => {
  expect(isToken(tokenOf([6, ...bytes, 0x0f, 0xa0]), { host, port: 4000 })).toBe(true)
})

function zeros(count: number): number[] {
  return Array<number>(count).fill(0)
}

function tokenOf(address: readonly number[], ageSeconds = 0): Buffer {
  const seconds = Buffer.alloc(8)
  seconds.writeBigUInt64BE(BigInt(Math.floor(clock.nowUnixMs() / 1000) - ageSeconds))
  const payload = Buffer.from([...address, ...seconds, 4, 1, 2, 3, 4])
  const tag = createHmac('sha256', Buffer.from(key, 'hex')).update(payload).digest()
  return Buffer.concat([tag, payload])
}

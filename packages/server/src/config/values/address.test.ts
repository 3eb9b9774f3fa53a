import { describe, expect, it } from 'vitest'
import { collide, isLoopback, parseAddress } from './address.ts'

describe('an address', () => {
  it.each([
    ['127.0.0.1:7350', { host: '127.0.0.1', port: 7350 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['[::1]:65535', { host: '::1', port: 65535 }],
    ['[fe80::1%eth0]:1', { host: 'fe80::1%eth0', port: 1 }],
    ['play.example.com:443', { host: 'play.example.com', port: 443 }],
  ])('%j is read', (text, address) => expect(parseAddress(text)).toEqual(address))

  it.each([
    '',
    '7350',
    ':7350',
    '127.0.0.1',
    '127.0.0.1:',
    '127.0.0.1:65536',
    '127.0.0.1:-1',
    '127.0.0.1:7350 ',
    '256.0.0.1:80',
    '1.2.3:80',
    '::1:7350',
    '[::g]:80',
    '[127.0.0.1]:80',
    'a b:80',
    'http://x:80',
    'x..y:80',
    '-x:80',
    `${'a.'.repeat(130)}a:80`,
    'bücher:80',
  ])('%j is refused', (text) => expect(parseAddress(text)).toBeUndefined())
})

describe('[O-VAL-1] loopback', () => {
  it.each(['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1', 'localhost', 'LOCALHOST'])(
    'is %s',
    (host) => expect(isLoopback(host)).toBe(true),
  )
  it.each([
    '0.0.0.0',
    '::',
    '128.0.0.1',
    '::ffff:127.0.0.1',
    'localhost.example.com',
    '127.example',
  ])('is not %s', (host) => expect(isLoopback(host)).toBe(false))
})

describe('[O-VAL-5] two listeners', () => {
  it.each([
    ['127.0.0.1:1', '127.0.0.1:1', true],
    ['0.0.0.0:1', '127.0.0.1:1', true],
    ['[::]:1', '10.0.0.1:1', true],
    ['[::1]:1', '[0:0::1]:1', true],
    ['LOCALHOST:1', 'localhost:1', true],
    ['127.0.0.1:1', '127.0.0.1:2', false],
    ['127.0.0.1:1', '127.0.0.2:1', false],
    ['127.0.0.1:0', '127.0.0.1:0', false],
  ])('on %s and %s collide: %s', (a, b, expected) => {
    const [one, other] = [parseAddress(a), parseAddress(b)]
    expect(one && other && collide(one, other)).toBe(expected)
  })
})

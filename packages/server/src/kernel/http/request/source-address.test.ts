import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSourceAddress, limitGroup, networkOf } from './source-address.ts'

/** A request from `peer`, as it looks when the socket has been read. */
function requestFrom(peer: string | undefined, forwarded?: string): IncomingMessage {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: peer })
  const message = new IncomingMessage(socket)
  if (forwarded !== undefined) message.headers['x-forwarded-for'] = forwarded
  return message
}

function sourceOf(trusted: string[], peer: string | undefined, forwarded?: string): string {
  return createSourceAddress(trusted)(requestFrom(peer, forwarded))
}

const proxies = ['10.0.0.0/8', '192.168.1.1/32', 'fd00::/8']

describe('the source', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8::1', '2001:db8::1'],
    ['2001:DB8:0::1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
    [undefined, ''],
  ])('[O-PRX-1] [O-PRX-2] of the peer %s is %s, whatever it forwards', (peer, source) => {
    expect(sourceOf([], peer, '9.9.9.9')).toBe(source)
    expect(sourceOf(proxies, peer, '9.9.9.9')).toBe(source)
  })

  it.each([
    ['9.9.9.9', '9.9.9.9'],
    ['9.9.9.9, 8.8.8.8', '8.8.8.8'],
    ['9.9.9.9,8.8.8.8 ,10.1.2.3,  10.255.255.255', '8.8.8.8'],
    ['9.9.9.9, 8.8.8.8, 192.168.1.1', '8.8.8.8'],
    ['9.9.9.9, 192.168.1.2', '192.168.1.2'],
    ['9.9.9.9, fd00::1', '9.9.9.9'],
    ['9.9.9.9, fc00::1', 'fc00::1'],
    ['::ffff:9.9.9.9', '9.9.9.9'],
    ['::FFFF:0909:0909', '9.9.9.9'],
    ['0:0:0:0:0:ffff:9.9.9.9', '9.9.9.9'],
    ['9.9.9.9, ::ffff:10.1.1.1', '9.9.9.9'],
    ['9.9.9.9, ::ffff:a01:101', '9.9.9.9'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    [Array(32).fill('9.9.9.9').join(), '9.9.9.9'],
    [`8.8.8.8,${Array(31).fill('10.1.1.1').join()}`, '8.8.8.8'],
    // What a client sends itself does not make it count as the proxy.
    ['x, 9.9.9.9', '9.9.9.9'],
    ['9.9.9.9:80,, "x, 8.8.8.8, 10.1.1.1', '8.8.8.8'],
    [`${Array(400).fill('x').join()}, 8.8.8.8`, '8.8.8.8'],
  ])(
    '[O-PRX-1] behind a trusted proxy is the right-most that is not trusted: %s',
    (forwarded, source) => {
      for (const peer of ['10.0.0.1', '::ffff:10.0.0.1', 'fd00::7', 'fd00::7%eth0']) {
        expect(sourceOf(proxies, peer, forwarded)).toBe(source)
      }
    },
  )

  it.each([
    ['nothing', undefined],
    ['an empty header', ''],
    ['a comma', ','],
    ['a name', 'unknown'],
    ['a port', '9.9.9.9:80'],
    ['brackets', '[2001:db8::1]'],
    ['quotes', '"9.9.9.9"'],
    ['an empty entry', '9.9.9.9, , 10.1.1.1'],
    ['an empty entry at the end', '9.9.9.9,'],
    ['an entry that is none behind trusted ones', '9.9.9.9, x, 10.1.1.1'],
    ['a short address', '9.9.9'],
    ['an octal address', '09.9.9.9'],
    ['a range', '9.9.9.0/24'],
    ['32 trusted entries', `9.9.9.9,${Array(32).fill('10.1.1.1').join()}`],
    ['only trusted entries', '10.1.1.1, 10.2.2.2'],
  ])('[O-PRX-1] [O-PRX-2] behind a trusted proxy with %s is the proxy', (_what, forwarded) => {
    expect(sourceOf(proxies, '10.0.0.1', forwarded)).toBe('10.0.0.1')
  })

  it('[H-GEN-33] never throws and is never anything but an address, whatever is forwarded', () => {
    const entry = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.string(),
      fc.ipV6().map((address) => `${address}%25`),
    )
    const source = createSourceAddress(proxies)
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 40, size: 'max' }), (entries) => {
        expect(source(requestFrom('10.0.0.1', entries.join(', ')))).toMatch(/^[0-9a-f.:]+$/)
      }),
    )
  })
})

describe('the group that limits count by', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::1:2:3:4:5', '2001:db8:0:1::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['2001:0DB8::1', '2001:db8:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    // As a UDP socket for IPv6 names it.
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['', ''],
  ])('[H-GEN-33] [O-PRX-2] of %s is %s', (address, group) => {
    expect(limitGroup(address)).toBe(group)
  })

  it('[O-PRX-2] is one for a whole /64 and another beyond it, however an address is written', () => {
    const groups = fc.array(fc.nat({ max: 0xffff }), { minLength: 8, maxLength: 8 })
    const hex = (all: number[]) => all.map((group) => group.toString(16)).join(':')
    fc.assert(
      fc.property(groups, groups, (one, other) => {
        const network = one.slice(0, 4)
        const source = createSourceAddress([])
        const groupOf = (address: string) => limitGroup(source(requestFrom(address)))
        // The mapped addresses of IPv4 are none of IPv6.
        fc.pre(network.some((group) => group !== 0))
        expect(groupOf(hex([...network, ...other.slice(4)]))).toBe(groupOf(hex(one)))
        expect(groupOf(hex(one).toUpperCase())).toBe(limitGroup(hex(one)))
        const beyond = [...network.slice(0, 3), ((network[3] ?? 0) + 1) & 0xffff, ...other.slice(4)]
        expect(groupOf(hex(beyond))).not.toBe(groupOf(hex(one)))
      }),
    )
  })

  it('[O-LOG-1] is shorter for logs', () => {
    expect(networkOf('2001:db8:1:2::1', 3)).toBe('2001:db8:1::/48')
  })
})

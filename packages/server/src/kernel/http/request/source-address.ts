import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, SocketAddress } from 'node:net'

/** Says where a request comes from: its TCP peer, or what a trusted proxy says of it. */
export type SourceAddress = (message: IncomingMessage) => string

/** More proxies than any honest chain has. */
const forwardedEntriesMax = 32

/**
 * @param trustedProxies CIDR ranges, e.g. `['10.0.0.0/8']`; empty trusts nobody, so that no client
 * can choose its own address.
 */
export function createSourceAddress(trustedProxies: readonly string[]): SourceAddress {
  const peerOf = (message: IncomingMessage) => plain(message.socket.remoteAddress ?? '')
  if (trustedProxies.length === 0) return peerOf
  const trusted = new BlockList()
  for (const range of trustedProxies) {
    const [address = '', prefix = ''] = range.split('/')
    trusted.addSubnet(address, Number(prefix), familyOf(address))
  }
  const isTrusted = (address: string) => trusted.check(address, familyOf(address))
  return (message) => {
    const peer = peerOf(message)
    if (isIP(peer) === 0 || !isTrusted(peer)) return peer
    return forwardedSource(message, isTrusted) ?? peer
  }
}

/**
 * The part of an address that limits count by: IPv6 clients own a whole /64. A socket for both
 * kinds of addresses names IPv4 ones inside IPv6, where all of them would be of one network.
 */
export function limitGroup(address: string): string {
  const known = plain(address)
  return isIP(known) === 6 ? networkOf(known, 4) : known
}

/** The network of an IPv6 address that its first `groups` groups of 16 bits name. */
export function networkOf(address: string, groups: number): string {
  const [head = '', tail = ''] = address.split('%')[0]?.split('::') ?? []
  const left = head === '' ? [] : head.split(':')
  const right = tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0')
  const all = address.includes('::') ? [...left, ...zeros, ...right] : left
  const network = all.slice(0, groups).map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/${groups * 16}`
}

/**
 * The right-most address of all X-Forwarded-For lines that is not trusted. What stands left of it
 * is the client's own and is not looked at: it must not choose to count as the proxy. Undefined
 * where what the proxies wrote is malformed.
 */
function forwardedSource(
  message: IncomingMessage,
  isTrusted: (address: string) => boolean,
): string | undefined {
  const header = String(message.headers['x-forwarded-for'] ?? '')
  let end = header.length
  for (let read = 0; read < forwardedEntriesMax && end >= 0; read += 1) {
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1)
    const entry = plain(header.slice(comma + 1, end).trim())
    if (isIP(entry) === 0) return undefined
    if (!isTrusted(entry)) return entry
    end = comma
  }
  return undefined
}

/** The one spelling of an address: IPv4 inside IPv6 counts as IPv4, and zones are left out. */
function plain(address: string): string {
  if (!address.includes(':')) return address
  const [unzoned = ''] = address.split('%')
  if (isIP(unzoned) !== 6) return address
  const { address: spelled } = new SocketAddress({ address: unzoned, family: 'ipv6' })
  return /^::ffff:(?=[0-9.]+$)/.test(spelled) ? spelled.slice(7) : spelled
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

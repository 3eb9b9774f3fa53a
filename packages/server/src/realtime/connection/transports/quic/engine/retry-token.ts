import { createHmac, timingSafeEqual } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { Clock } from '../../../../../kernel/clock.ts'

/** Says whether a token is one that the engine gave to the peer at that address. */
export type IsRetryToken = (token: Uint8Array, peer: { host: string; port: number }) => boolean

const tagBytes = 32
const lifetimeSeconds = 60

/**
 * The engine proves an address by its own Retry: the token is HMAC-SHA256 over family, address,
 * port, seconds and the client's first connection id, in front of these. The node checks it before
 * the engine does, so that nobody uses up the rate of new connections from addresses not his own.
 *
 * @param key 64 hex digits, as the engine has it
 */
export function retryTokens(key: string, clock: Pick<Clock, 'nowUnixMs'>): IsRetryToken {
  const secret = Buffer.from(key, 'hex')
  return (token, { host, port }) => {
    const payload = token.subarray(tagBytes)
    const address = addressBytes(host)
    const secondsAt = 1 + address.length + 2
    if (payload.length < secondsAt + 8) return false
    const tag = createHmac('sha256', secret).update(payload).digest()
    if (!timingSafeEqual(tag, token.subarray(0, tagBytes))) return false
    const fields = Buffer.from(payload)
    const isPeer =
      fields[0] === (isIPv6(host) ? 6 : 4) &&
      fields.subarray(1, 1 + address.length).equals(address) &&
      fields.readUInt16BE(secondsAt - 2) === port
    const ageSeconds = clock.nowUnixMs() / 1000 - Number(fields.readBigUInt64BE(secondsAt))
    return isPeer && ageSeconds <= lifetimeSeconds
  }
}

function addressBytes(host: string): Buffer {
  if (!isIPv6(host)) return Buffer.from(host.split('.').map(Number))
  const [head = '', tail] = (host.split('%')[0] ?? '').split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':').flatMap(groupsOf))
  const left = groups(head)
  const right = groups(tail ?? '')
  const zeros = Array<number>(Math.max(0, 8 - left.length - right.length)).fill(0)
  return Buffer.from([...left, ...zeros, ...right].flatMap((group) => [group >> 8, group & 0xff]))
}

/** One group of an IPv6 address, or two where an IPv4 address ends it. */
function groupsOf(text: string): number[] {
  if (!text.includes('.')) return [Number.parseInt(text, 16)]
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number)
  return [(a << 8) | b, (c << 8) | d]
}

import { isIPv4, isIPv6 } from 'node:net'

/** Where something listens. An IPv6 host stands here without its brackets. */
export type Address = { host: string; port: number }

/** Reads `HOST:PORT`; undefined when it is anything else. */
export function parseAddress(text: string): Address | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  if (digits === undefined || port > 65_535) return undefined
  if (bracketed !== undefined) {
    return isIPv6(bracketed) ? { host: bracketed, port } : undefined
  }
  if (plain === undefined || !(isIPv4(plain) || isDnsName(plain))) return undefined
  return { host: plain, port }
}

/** Whether only this machine can reach `host`: 127.0.0.0/8, `::1` or `localhost`. */
export function isLoopback(host: string): boolean {
  if (isIPv4(host)) return host.startsWith('127.')
  if (isIPv6(host)) return canonical(host) === '[::1]'
  return host.toLowerCase() === 'localhost'
}

/** Whether two listeners of one protocol could not both have their address. */
export function collide(a: Address, b: Address): boolean {
  if (a.port !== b.port || a.port === 0) return false
  return canonical(a.host) === canonical(b.host) || isWildcard(a.host) || isWildcard(b.host)
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || canonical(host) === '[::]'
}

/** One spelling per host: URLs write IPv6 addresses in their shortest form. */
function canonical(host: string): string {
  if (!isIPv6(host)) return host.toLowerCase()
  const [bare = host] = host.split('%')
  return new URL(`http://[${bare}]`).hostname
}

function isDnsName(text: string): boolean {
  if (text.length > 253 || /(^|\.)\d+$/.test(text)) return false
  return text.split('.').every((label) => /^\w([\w-]*\w)?$/.test(label))
}

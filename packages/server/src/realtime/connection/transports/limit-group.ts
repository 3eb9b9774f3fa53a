import { limitGroup } from '../../../kernel/http/request/source-address.ts'

/** What the limits count a peer by; undefined for loopback, which counts towards the total only. */
export function limitGroupOf(address: string): string | undefined {
  return isLoopback(address) ? undefined : limitGroup(address)
}

export function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.')
}

import type { Transport } from './transport.ts'

/** A transport that is configured and that this version does not have: it never serves. */
export function absentTransport(
  name: string,
  { enabled, bind, hasOwnSocket }: { enabled: boolean; bind: string; hasOwnSocket: boolean },
): Transport {
  return {
    name,
    hasOwnSocket,
    start: async () => {},
    state: () => ({ enabled, available: false, bind }),
    close: async () => {},
  }
}

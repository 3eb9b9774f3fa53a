import type { RequestQueue } from '../../play/rooms/requests/request-queue.ts'
import type { RateBucket } from '../rpc/rate-bucket.ts'

/** What the gateway keeps about the client of one connection; a return starts anew. */
export type ClientState = {
  /** What SESSION_OPTIONS asked for; undefined as long as the client sent none. */
  flags: number | undefined
  rpcsOpen: number
  /** Messages that the script was given and has not settled. */
  messagesOpen: number
  /** Notices sent in the running second; only there once one was sent. */
  notices: CountedSecond | undefined
  /** Clock samples answered in the running second. */
  clockSyncs: CountedSecond | undefined
  /** Room requests without an answer; undefined when there are none. */
  requests: RequestQueue | undefined
  /** Calls of `rooms.list` that are left. */
  listCalls: RateBucket | undefined
  /** Messages to the party that are left. */
  partyMessages: RateBucket | undefined
  /** The newest offer of server time. */
  offerId: bigint | undefined
  /** Whether the client said that it can record for diagnostics. */
  canRecord: boolean
  /** When it was accepted, on the monotonic clock. */
  sinceMs: number
}

type CountedSecond = { sinceMs: number; count: number }

export function newClientState(sinceMs: number): ClientState {
  return {
    flags: undefined,
    rpcsOpen: 0,
    messagesOpen: 0,
    notices: undefined,
    clockSyncs: undefined,
    requests: undefined,
    listCalls: undefined,
    partyMessages: undefined,
    offerId: undefined,
    canRecord: false,
    sinceMs,
  }
}

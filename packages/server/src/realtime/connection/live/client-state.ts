/** What the edge keeps about the client of one connection; a return starts anew. */
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
  /** What the next SESSION_INFO says of the session's connection before; then null. */
  lastClose: number | null
  /** The newest offer of server time. */
  offerId: bigint | undefined
}

type CountedSecond = { sinceMs: number; count: number }

export function newClientState(lastClose: number | null): ClientState {
  return {
    flags: undefined,
    rpcsOpen: 0,
    messagesOpen: 0,
    notices: undefined,
    clockSyncs: undefined,
    lastClose,
    offerId: undefined,
  }
}

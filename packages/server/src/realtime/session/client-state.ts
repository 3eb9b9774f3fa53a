/** What the gateway keeps about the client of one connection; a return starts anew. */
export type ClientState = {
  /** What SESSION_OPTIONS asked for; undefined as long as the client sent none. */
  flags: number | undefined
  rpcsOpen: number
  /** Notices sent in the running second; only there once one was sent. */
  notices: { sinceMs: number; count: number } | undefined
}

export function newClientState(): ClientState {
  return { flags: undefined, rpcsOpen: 0, notices: undefined }
}

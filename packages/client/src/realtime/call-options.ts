/** Bounds of a call. */
export type CallOptions = {
  /** Default 15,000; counts from the call and includes waiting. */
  timeoutMs?: number
  /** Ends the waiting; what the server has begun runs on. */
  signal?: AbortSignal
}

export type ReplyForm = 'json' | 'text' | 'bytes'

export type RpcOptions<As extends ReplyForm = ReplyForm> = CallOptions & {
  /** How the reply is read; default `json`, of which an empty reply is undefined. */
  as?: As
}

export type SendOptions = {
  /** May be lost or overtake, where the transport has datagrams. */
  unreliable?: boolean
}

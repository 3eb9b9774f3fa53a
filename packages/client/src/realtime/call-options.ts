/** Bounds of a call. */
export type CallOptions = {
  /** Default 15,000; counts from the call and includes waiting. */
  timeoutMs?: number
  /** Ends the waiting; what the server has begun runs on. */
  signal?: AbortSignal
}

export type ReplyForm = 'json' | 'text' | 'bytes'

/**
 * How a reply may be read: a script sends a string and bytes as they are, which are no JSON, so
 * only one way fits them. Without types of the game every way may fit.
 */
export type FormOf<Reply> = unknown extends Reply
  ? ReplyForm
  : [Reply] extends [undefined]
    ? ReplyForm
    : [Reply] extends [string | undefined]
      ? 'text'
      : [Reply] extends [Uint8Array | undefined]
        ? 'bytes'
        : ReplyForm

/** How a reply is read when a call does not say it; nothing for replies that are no JSON. */
export type FormOfDefault<Reply> = 'json' extends FormOf<Reply> ? 'json' : FormOf<Reply>

export type RpcOptions<As extends ReplyForm = ReplyForm> = CallOptions & {
  /** How the reply is read; default `json`, of which an empty reply is undefined. */
  as?: As
}

export type SendOptions = {
  /** May be lost or overtake, where the transport has datagrams. */
  unreliable?: boolean
}

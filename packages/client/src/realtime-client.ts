import {
  type AuthResult,
  authBody,
  authResultBody,
  type Envelope,
  encodeFrame,
  envelopeBytesMax,
  FrameDecoder,
  kinds,
  rpcRequestBody,
  rpcResponseBody,
} from '@guildhall/contract'

/** A handshake that was refused, or a connection that ended; `code` is the close code. */
export class RealtimeClosed extends Error {
  override readonly name = 'RealtimeClosed'
  /** WebSocket close code, e.g. 4001 for a rejected token; 1006 for a lost connection. */
  readonly code: number

  constructor(code: number, reason: string) {
    super(reason === '' ? `the realtime connection ended (${code})` : reason)
    this.code = code
  }
}

/** An RPC that the server or the game's script refused; the message is its text. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
}

export type RealtimeOptions = {
  /** Where the node listens, e.g. `http://127.0.0.1:7350`; the path is added. */
  baseUrl: string
  /** An access token; without it the client joins as a guest. */
  token?: string
}

/** A connection whose handshake has been accepted. */
export type Realtime = {
  /** The account's id, or null for a guest. */
  readonly userId: string | null
  /** Sends an envelope of kind 1 or 100..65535, reliably and in order. */
  send(kind: number, body: Uint8Array): void
  /** Calls `handle` with each envelope that arrives, in order; answers how to stop that. */
  onEnvelope(handle: (envelope: Envelope) => void): () => void
  /** Calls a method of the game's script. Rejects with `RpcError` when it is refused. */
  rpc(method: string, payload: Uint8Array): Promise<Uint8Array>
  /** Resolves when the connection is over, whoever ended it. */
  readonly closed: Promise<RealtimeClosed>
  close(): void
}

/**
 * Connects, sends the token as the first envelope and resolves once the server has accepted it.
 * Rejects with `RealtimeClosed` when it does not.
 *
 * @example
 * const realtime = await connectRealtime({ baseUrl: 'http://127.0.0.1:7350', token })
 * realtime.send(100, new TextEncoder().encode('hello'))
 */
export async function connectRealtime({ baseUrl, token }: RealtimeOptions): Promise<Realtime> {
  const url = `${baseUrl.replace(/^http/, 'ws')}/v1/realtime`
  const connection = new Connection(new WebSocket(url))
  await connection.handshake(token ?? '')
  return connection
}

type PendingRpc = { resolve: (reply: Uint8Array) => void; reject: (error: Error) => void }

class Connection implements Realtime {
  userId: string | null = null
  readonly closed: Promise<RealtimeClosed>
  readonly #socket: WebSocket
  readonly #decoder = new FrameDecoder(envelopeBytesMax)
  readonly #listeners = new Set<(envelope: Envelope) => void>()
  readonly #pending = new Map<bigint, PendingRpc>()
  #accepted: ((result: AuthResult) => void) | undefined
  /** What arrived before anybody listened; handed to the first listener. */
  #early: Envelope[] = []
  #lastRequestId = 0n

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('message', ({ data }) => this.#receive(data))
    this.closed = new Promise((resolve) => {
      socket.addEventListener('close', ({ code, reason }) => {
        const end = new RealtimeClosed(code, reason)
        for (const { reject } of this.#pending.values()) reject(end)
        this.#pending.clear()
        resolve(end)
      })
    })
  }

  async handshake(token: string): Promise<void> {
    const accepted = new Promise<AuthResult>((resolve) => {
      this.#accepted = resolve
    })
    this.#socket.addEventListener('open', () => {
      this.#write(kinds.AUTH.first, authBody.encode({ access_token: token }))
    })
    const result = await Promise.race([accepted, this.closed])
    if (result instanceof RealtimeClosed) throw result
    if (result.status === 'rejected') throw await this.closed
    this.userId = result.status === 'account' ? result.user_id : null
  }

  send(kind: number, body: Uint8Array): void {
    this.#write(kind, body)
  }

  onEnvelope(handle: (envelope: Envelope) => void): () => void {
    this.#listeners.add(handle)
    const early = this.#early
    this.#early = []
    for (const envelope of early) handle(envelope)
    return () => this.#listeners.delete(handle)
  }

  rpc(method: string, payload: Uint8Array): Promise<Uint8Array> {
    this.#lastRequestId += 1n
    const request_id = this.#lastRequestId
    return new Promise((resolve, reject) => {
      this.#pending.set(request_id, { resolve, reject })
      const request = { request_id, method, payload }
      this.#write(kinds.RPC_REQUEST.first, rpcRequestBody.encode(request))
    })
  }

  close(): void {
    this.#socket.close(1000)
  }

  #write(kind: number, body: Uint8Array): void {
    this.#socket.send(new Uint8Array(encodeFrame(kind, body)))
  }

  #receive(data: unknown): void {
    if (!(data instanceof ArrayBuffer)) return
    this.#decoder.push(new Uint8Array(data))
    for (let next = this.#decoder.next(); next; next = this.#decoder.next()) this.#handle(next)
  }

  #handle(envelope: Envelope): void {
    switch (envelope.kind) {
      case kinds.AUTH_RESULT.first:
        this.#accepted?.(authResultBody.decode(envelope.body))
        return
      case kinds.RPC_RESPONSE.first:
        this.#answer(envelope.body)
        return
      default:
        if (this.#listeners.size === 0) this.#early.push(envelope)
        for (const handle of this.#listeners) handle(envelope)
    }
  }

  #answer(body: Uint8Array): void {
    const { request_id, ok, payload } = rpcResponseBody.decode(body)
    const pending = this.#pending.get(request_id)
    this.#pending.delete(request_id)
    if (ok) pending?.resolve(payload)
    else pending?.reject(new RpcError(new TextDecoder().decode(payload)))
  }
}

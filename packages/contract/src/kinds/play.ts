import { parseExact, stringifyExact } from '../values/exact-json.ts'
import type { Json } from '../values/json.ts'
import { type BodyCodec, BodyReader, BodyWriter, malformed } from './bytes.ts'
import { WireError } from './envelope.ts'

/** Longest RPC method, in bytes of UTF-8. */
export const rpcMethodBytesMax = 128

/** The body of RPC_REQUEST. The id is the caller's; every u64 comes back as it was sent. */
export type RpcRequest = { request_id: bigint; method: string; payload: Uint8Array }

/**
 * Decoding throws WireError `rpc_header` when not even the id is there, and `malformed_body` when
 * the method is not UTF-8, is cut off, or has more than 128 bytes.
 *
 * @example rpcRequestBody.encode({ request_id: 1n, method: 'ping', payload: new Uint8Array() })
 */
export const rpcRequestBody: BodyCodec<RpcRequest> = {
  encode({ request_id, method, payload }) {
    const head = new BodyWriter().u64(request_id).str(method).finish()
    if (head.length > rpcHeaderBytes + 2 + rpcMethodBytesMax) {
      throw new RangeError('an RPC method has at most 128 bytes')
    }
    return new BodyWriter().bytes(head).bytes(payload).finish()
  },
  decode(body) {
    const request_id = rpcRequestId(body)
    const reader = new BodyReader(body.subarray(rpcHeaderBytes))
    const methodBytes = reader.u16()
    if (methodBytes > rpcMethodBytesMax) throw malformed('a method above 128 bytes')
    const method = new BodyReader(reader.bytes(methodBytes)).text()
    return { request_id, method, payload: reader.rest() }
  },
}

/**
 * The id alone, so that a request with a broken method can still be answered.
 *
 * @throws WireError `rpc_header` when the body has less than 8 bytes
 */
export function rpcRequestId(body: Uint8Array): bigint {
  if (body.length < rpcHeaderBytes) throw new WireError('rpc_header', 'no request id')
  return new BodyReader(body).u64()
}

const rpcHeaderBytes = 8

/**
 * The body of RPC_RESPONSE: the reply, or with `ok` false a short text in UTF-8, which clients that
 * ask for `sessionFlags.failures` get as an RpcFailure.
 */
export type RpcResponse = { request_id: bigint; ok: boolean; payload: Uint8Array }

/** @example rpcResponseBody.decode(envelope.body).request_id */
export const rpcResponseBody: BodyCodec<RpcResponse> = {
  encode: ({ request_id, ok, payload }) =>
    new BodyWriter()
      .u64(request_id)
      .u8(ok ? 0 : 1)
      .bytes(payload)
      .finish(),
  decode(body) {
    const reader = new BodyReader(body)
    const request_id = reader.u64()
    const ok = reader.oneOf([true, false], reader.u8())
    return { request_id, ok, payload: reader.rest() }
  },
}

/** What a refused call says. The code is `rpc_failed` and the data null where there is no more. */
export type RpcFailure = { message: string; code: string; data: Json }

/** JSON in UTF-8. @example rpcFailureBody.decode(payload).code */
export const rpcFailureBody: BodyCodec<RpcFailure> = {
  encode: ({ message, code, data }) =>
    new TextEncoder().encode(stringifyExact({ message, code, data })),
  decode(body) {
    const failure = parseFailure(new BodyReader(body).text())
    if (failure === undefined) throw malformed('a failure without message or code')
    return failure
  },
}

function parseFailure(text: string): RpcFailure | undefined {
  try {
    const { message, code, data = null } = parseExact(text) as Partial<RpcFailure>
    if (typeof message !== 'string' || typeof code !== 'string') return undefined
    return { message, code, data }
  } catch {
    return undefined
  }
}

/** What a call is refused with that says nothing but a text. */
export const plainFailure = { code: 'rpc_failed', data: null } as const

/** Largest body of POSITION, in bytes; an empty one is refused too. */
export const positionBytesMax = 1024

/** The coordinates that the client library puts into POSITION; to the server they are opaque. */
export type Position = { x: number; y: number }

/** Two f32, little-endian: the only numbers of the protocol that are not big-endian. */
export const positionBody: BodyCodec<Position> = {
  encode({ x, y }) {
    const view = new DataView(new ArrayBuffer(8))
    view.setFloat32(0, x, true)
    view.setFloat32(4, y, true)
    return new Uint8Array(view.buffer)
  },
  decode(body) {
    if (body.length < 8) throw malformed('a position without two coordinates')
    const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
    return { x: view.getFloat32(0, true), y: view.getFloat32(4, true) }
  },
}

/**
 * The body of PEER_POSITION: whose position it is, and the body of the POSITION as it was sent.
 */
export type PeerPosition = { participant: number; position: Uint8Array }

/** @example positionBody.decode(peerPositionBody.decode(envelope.body).position) */
export const peerPositionBody: BodyCodec<PeerPosition> = {
  encode: ({ participant, position }) => senderAndBytes(participant, position),
  decode(body) {
    const reader = new BodyReader(body)
    return { participant: reader.safe(), position: reader.rest() }
  },
}

/**
 * Puts the sender's participant id in front of a body: the convention of relays on application
 * kinds.
 *
 * @throws RangeError when `sender` is no safe integer of 0 or more
 * @example tagWithSender(42, new TextEncoder().encode('hi'))
 */
export function tagWithSender(sender: number, body: Uint8Array): Uint8Array {
  return senderAndBytes(sender, body)
}

/**
 * Takes a relayed body apart; the rest is a view of `bytes`.
 *
 * @throws WireError `malformed_body` when there is no participant id in front
 * @example const { sender, body } = splitSender(message.bytes)
 */
export function splitSender(bytes: Uint8Array): { sender: number; body: Uint8Array } {
  const reader = new BodyReader(bytes)
  return { sender: reader.safe(), body: reader.rest() }
}

/** Written without a BodyWriter, because relays are made once per inbound envelope. */
function senderAndBytes(sender: number, bytes: Uint8Array): Uint8Array {
  if (!Number.isSafeInteger(sender) || sender < 0) throw new RangeError('a participant id')
  const body = new Uint8Array(8 + bytes.length)
  const view = new DataView(body.buffer)
  view.setUint32(0, Math.floor(sender / 2 ** 32))
  view.setUint32(4, sender % 2 ** 32)
  body.set(bytes, 8)
  return body
}

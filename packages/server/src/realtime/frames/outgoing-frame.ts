import {
  encodeFrame,
  frameHeaderBytes,
  kinds,
  type RpcResponse,
  rpcResponseBody,
} from '@guildhall/contract'

/**
 * One encoded envelope on its way out. It is encoded once and shared by all of its receivers, so
 * nothing may change its bytes.
 */
export type OutgoingFrame = {
  readonly bytes: Uint8Array
  /**
   * Waiting frames with the same key but 0 are merged: the newest takes the place of the older
   * one. Only positions have a key, their sender.
   */
  readonly mergeKey: number
  /** The frame as a message of its own, kept by the transport that had to make it first. */
  message: Uint8Array | undefined
  /** How much of the memory before `bytes` is free: a transport may put a header there. */
  readonly headroom?: number
}

/** @throws RangeError when kind or body do not fit into a frame */
export function outgoingFrame(kind: number, body: Uint8Array): OutgoingFrame {
  return { bytes: encodeFrame(kind, body), mergeKey: mergeKey(kind, body), message: undefined }
}

/**
 * An RPC_RESPONSE, written in one piece: its payload is copied once on its way to the system. In
 * memory of its own: out of a pool, one that waits for a slow reader would hold what others left.
 */
export function responseFrame({ request_id, ok, payload }: RpcResponse): OutgoingFrame {
  const head = rpcResponseBody.encode({ request_id, ok, payload: noPayload })
  const whole = Buffer.allocUnsafeSlow(headroom + frameHeaderBytes + head.length + payload.length)
  const bytes = whole.subarray(headroom)
  writeHeader(bytes, kinds.RPC_RESPONSE.first)
  bytes.set(head, frameHeaderBytes)
  bytes.set(payload, frameHeaderBytes + head.length)
  return { bytes, mergeKey: 0, message: undefined, headroom }
}

const noPayload = new Uint8Array(0)
/** As much as any transport needs. */
const headroom = 10

/**
 * A PEER_POSITION of a participant. Written in one piece, because positions are most of what a game
 * without a script sends.
 */
export function positionFrame(participant: number, position: Uint8Array): OutgoingFrame {
  const bytes = Buffer.allocUnsafe(frameHeaderBytes + idBytes + position.length)
  writeHeader(bytes, kinds.PEER_POSITION.first)
  bytes.writeUInt32BE(Math.floor(participant / 2 ** 32), 6)
  bytes.writeUInt32BE(participant % 2 ** 32, 10)
  bytes.set(position, frameHeaderBytes + idBytes)
  return { bytes, mergeKey: participant, message: undefined }
}

const idBytes = 8
const lengthBytes = 4

function writeHeader(frame: Buffer, kind: number): void {
  frame.writeUInt32BE(frame.length - lengthBytes, 0)
  frame.writeUInt16BE(kind, lengthBytes)
}

/** The kind, behind the length. */
export function kindOf({ bytes }: OutgoingFrame): number {
  return ((bytes[4] ?? 0) << 8) | (bytes[5] ?? 0)
}

export function bodyBytesOf({ bytes }: OutgoingFrame): number {
  return bytes.length - frameHeaderBytes
}

function mergeKey(kind: number, body: Uint8Array): number {
  if (kind !== kinds.PEER_POSITION.first || body.length < 8) return 0
  const view = new DataView(body.buffer, body.byteOffset, 8)
  return view.getUint32(0) * 2 ** 32 + view.getUint32(4)
}

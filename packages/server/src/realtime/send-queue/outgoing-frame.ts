import { encodeFrame, kinds } from '@guildhall/contract'

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
}

/** @throws RangeError when kind or body do not fit into a frame */
export function outgoingFrame(kind: number, body: Uint8Array): OutgoingFrame {
  return { bytes: encodeFrame(kind, body), mergeKey: mergeKey(kind, body), message: undefined }
}

/** The kind, behind the length. */
export function kindOf({ bytes }: OutgoingFrame): number {
  return ((bytes[4] ?? 0) << 8) | (bytes[5] ?? 0)
}

function mergeKey(kind: number, body: Uint8Array): number {
  if (kind !== kinds.PEER_POSITION.first || body.length < 8) return 0
  const view = new DataView(body.buffer, body.byteOffset, 8)
  return view.getUint32(0) * 2 ** 32 + view.getUint32(4)
}

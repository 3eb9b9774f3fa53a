import type { OutgoingFrame } from '../../frames/outgoing-frame.ts'

/** Longest header of an unmasked WebSocket frame, in bytes. */
export const messageHeaderBytesMax = 10

/** Bytes of the header of an unmasked message of `length` bytes. */
export function messageHeaderBytes(length: number): number {
  if (length < 126) return 2
  return length < 65536 ? 4 : 10
}

/** Writes the header of a final, unmasked binary message of `length` bytes. */
export function writeMessageHeader(target: Buffer, at: number, length: number): void {
  target[at] = 0x82
  if (length < 126) {
    target[at + 1] = length
  } else if (length < 65536) {
    target[at + 1] = 126
    target.writeUInt16BE(length, at + 2)
  } else {
    target[at + 1] = 127
    target.writeUInt32BE(Math.floor(length / 2 ** 32), at + 2)
    target.writeUInt32BE(length % 2 ** 32, at + 6)
  }
}

/** The frame as one message; made for its first receiver and shared with all others. */
export function messageOf(frame: OutgoingFrame): Uint8Array {
  if (frame.message !== undefined) return frame.message
  const { length } = frame.bytes
  const headerBytes = messageHeaderBytes(length)
  const hasRoom = (frame.headroom ?? 0) >= headerBytes
  const message = hasRoom
    ? withRoom(frame.bytes, headerBytes)
    : Buffer.allocUnsafeSlow(headerBytes + length)
  writeMessageHeader(message, 0, length)
  if (!hasRoom) message.set(frame.bytes, headerBytes)
  frame.message = message
  return message
}

/** Only here is its buffer asked for: of few bytes the engine makes one only then. */
function withRoom({ buffer, byteOffset, length }: Uint8Array, headerBytes: number): Buffer {
  return Buffer.from(buffer, byteOffset - headerBytes, headerBytes + length)
}

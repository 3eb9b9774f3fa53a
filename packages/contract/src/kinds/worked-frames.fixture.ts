import { expect, test } from 'vitest'
import type { BodyCodec } from './bytes.ts'
import { encodeFrame, FrameDecoder } from './envelope.ts'

/** A message with its value and its bytes; the name is the title of its test. */
export type WorkedFrame = {
  name: string
  hex: string
  encode(): Uint8Array
  decode(frame: Uint8Array): void
}

/** Tests that each value gives its bytes, and each frame its value. */
export function testWorkedFrames(frames: readonly WorkedFrame[]): void {
  for (const { name, hex, encode, decode } of frames) {
    test(`[R-EX-1] ${name}`, () => {
      expect(Buffer.from(encode()).toString('hex')).toBe(hex)
      decode(Uint8Array.from(Buffer.from(hex, 'hex')))
    })
  }
}

export function row<Value>(
  name: string,
  kind: number,
  codec: BodyCodec<Value>,
  ...[value, spacedHex]: [value: Value, spacedHex: string]
): WorkedFrame {
  return {
    name,
    hex: spacedHex.replaceAll(/\s/g, ''),
    encode: () => encodeFrame(kind, codec.encode(value)),
    decode(frame: Uint8Array) {
      const decoder = new FrameDecoder(65536)
      decoder.push(frame)
      const envelope = decoder.next()
      expect(envelope?.kind).toBe(kind)
      expect(envelope && codec.decode(envelope.body)).toEqual(value)
      expect(decoder.next()).toBeUndefined()
    },
  }
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  decodeDatagram,
  type Envelope,
  encodeDatagram,
  encodeFrame,
  envelopeBytesMax,
  FrameDecoder,
  frameHeaderBytes,
  WireError,
} from './envelope.ts'

const someKind = fc.integer({ min: 0, max: 65535 })
const someEnvelope = fc.record({ kind: someKind, body: fc.uint8Array({ maxLength: 700 }) })
const someCuts = fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 60 })

describe('frames', () => {
  test('[R-FR-1] a length of 2 is taken and a length of 0 or 1 is refused', () => {
    expect(drain(decoderOf(bytes('00000002 0005')))).toEqual([{ kind: 5, body: new Uint8Array(0) }])
    for (const length of ['00000000', '00000001']) expectRefused(bytes(length), 65536)
  })

  test('[R-FR-1] the largest allowed length is taken and one more is refused', () => {
    const largest = encodeFrame(100, new Uint8Array(1022))
    expect(drain(decoderOf(largest, 1024))).toHaveLength(1)
    expectRefused(encodeFrame(100, new Uint8Array(1023)), 1024)
    expectRefused(bytes('ffffffff'), 65536)
  })

  test('[R-FR-1] a bad length is refused when its four bytes are known, before any body', () => {
    const decoder = decoderOf(bytes('000100'))
    expect(decoder.next()).toBeUndefined()
    decoder.push(bytes('01'))
    expect(() => decoder.next()).toThrow(WireError)
  })

  test('[R-FR-1] a stream with a bad length stays refused and keeps the frames before it', () => {
    const decoder = decoderOf(concat([encodeFrame(7, bytes('aa')), bytes('00000001 0000')]))
    expect(decoder.next()).toEqual({ kind: 7, body: bytes('aa') })
    expect(() => decoder.next()).toThrow(WireError)
    decoder.push(encodeFrame(8, bytes('')))
    expect(() => decoder.next()).toThrow(WireError)
  })

  test('[R-FR-2] every list of envelopes under every chunking decodes to itself', () => {
    fc.assert(
      fc.property(fc.array(someEnvelope, { maxLength: 12 }), someCuts, (envelopes, cuts) => {
        const stream = concat(envelopes.map(({ kind, body }) => encodeFrame(kind, body)))
        const decoder = new FrameDecoder(65536)
        const decoded: Envelope[] = []
        for (const chunk of cut(stream, cuts)) {
          decoder.push(chunk)
          decoded.push(...drain(decoder))
        }
        expect(decoded.map(plain)).toEqual(envelopes.map(plain))
        expect(decoder.pendingBytes).toBe(0)
      }),
    )
  })

  test('[R-FR-2] chunks may be pushed faster than envelopes are taken', () => {
    fc.assert(
      fc.property(fc.array(someEnvelope, { maxLength: 12 }), someCuts, (envelopes, cuts) => {
        const stream = concat(envelopes.map(({ kind, body }) => encodeFrame(kind, body)))
        const decoder = new FrameDecoder(65536)
        for (const chunk of cut(stream, cuts)) decoder.push(chunk)
        expect(decoder.pendingBytes).toBe(stream.length)
        expect(drain(decoder).map(plain)).toEqual(envelopes.map(plain))
      }),
    )
  })

  test('arbitrary bytes give whole frames, a wait for more, or the typed error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), someCuts, (stream, cuts) => {
        const decoder = new FrameDecoder(256)
        let used = 0
        try {
          for (const chunk of cut(stream, cuts)) {
            decoder.push(chunk)
            for (const { body } of drain(decoder)) used += frameHeaderBytes + body.length
          }
        } catch (error) {
          expect(error).toBeInstanceOf(WireError)
        }
        expect(used).toBeLessThanOrEqual(stream.length)
      }),
    )
  })

  test('memory follows the bytes received, not the length claimed', () => {
    const decoder = decoderOf(bytes('00800000 0064'), envelopeBytesMax)
    expect(decoder.next()).toBeUndefined()
    expect(decoder.pendingBytes).toBe(6)
  })

  test('a frame that arrives byte by byte does not change when its chunks are reused', () => {
    const frame = encodeFrame(300, bytes('010203'))
    const decoder = new FrameDecoder(65536)
    const chunk = new Uint8Array(1)
    const decoded: Envelope[] = []
    for (const byte of frame) {
      chunk[0] = byte
      decoder.push(chunk)
      decoded.push(...drain(decoder))
    }
    expect(decoded).toEqual([{ kind: 300, body: bytes('010203') }])
  })

  test('[R-FR-3] no frame above 8 MiB and no kind beyond u16 can be encoded', () => {
    expect(() => encodeFrame(1, new Uint8Array(envelopeBytesMax - 1))).toThrow(RangeError)
    expect(encodeFrame(1, new Uint8Array(envelopeBytesMax - 2))).toHaveLength(envelopeBytesMax + 4)
    for (const kind of [-1, 65536, 1.5, Number.NaN]) {
      expect(() => encodeFrame(kind, bytes(''))).toThrow(RangeError)
      expect(() => encodeDatagram(kind, bytes(''))).toThrow(RangeError)
    }
  })
})

describe('datagrams', () => {
  test('every envelope survives, and less than 2 bytes are refused', () => {
    fc.assert(
      fc.property(someEnvelope, ({ kind, body }) => {
        expect(plain(decodeDatagram(encodeDatagram(kind, body)))).toEqual(plain({ kind, body }))
      }),
    )
    expect(() => decodeDatagram(bytes(''))).toThrow(WireError)
    expect(() => decodeDatagram(bytes('01'))).toThrow(WireError)
  })
})

function decoderOf(stream: Uint8Array, maxEnvelopeBytes = 65536): FrameDecoder {
  const decoder = new FrameDecoder(maxEnvelopeBytes)
  decoder.push(stream)
  return decoder
}

function drain(decoder: FrameDecoder): Envelope[] {
  const envelopes: Envelope[] = []
  for (let next = decoder.next(); next; next = decoder.next()) envelopes.push(next)
  return envelopes
}

function expectRefused(stream: Uint8Array, maxEnvelopeBytes: number): void {
  expect(() => drain(decoderOf(stream, maxEnvelopeBytes))).toThrow(
    expect.objectContaining({ name: 'WireError', code: 'frame_length' }),
  )
}

function plain({ kind, body }: Envelope) {
  return { kind, body: [...body] }
}

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
}

function concat(parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts))
}

/** Each chunk is a copy, so that reading beyond a chunk would be noticed. */
function cut(stream: Uint8Array, sizes: number[]): Uint8Array[] {
  const chunks: Uint8Array[] = []
  let start = 0
  for (const size of sizes) {
    chunks.push(stream.slice(start, start + size))
    start += size
  }
  chunks.push(stream.slice(start))
  return chunks
}

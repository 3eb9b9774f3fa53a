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
// Without a size of its own an array has about ten elements, whatever its largest length is.
const someBody = fc.uint8Array({ maxLength: 700, size: 'max' })
const someEnvelope = fc.record({ kind: someKind, body: fc.oneof(fc.uint8Array(), someBody) })
const someCuts = fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 60, size: 'max' })

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

  test('[R-FR-2] a chunk without bytes changes nothing, wherever it comes', () => {
    const frame = encodeFrame(9, bytes('0102'))
    const decoder = new FrameDecoder(65536)
    const empty = new Uint8Array(0)
    for (const chunk of [empty, frame.slice(0, 5), empty, frame.slice(5), empty, frame, empty]) {
      decoder.push(chunk)
    }
    const envelope = { kind: 9, body: [1, 2] }
    expect(drain(decoder).map(plain)).toEqual([envelope, envelope])
  })

  test('[R-FR-2] a decoder that lagged once and caught up can lag again', () => {
    const decoder = new FrameDecoder(65536)
    for (const kind of [1, 2, 3]) {
      const frame = encodeFrame(kind, bytes('010203'))
      for (const byte of frame) decoder.push(Uint8Array.of(byte))
      expect(drain(decoder).map(plain)).toEqual([{ kind, body: [1, 2, 3] }])
      expect(decoder.pendingBytes).toBe(0)
    }
  })

  test('a frame that lies within one chunk is a view of it, and none is copied', () => {
    const two = concat([encodeFrame(1, bytes('0a')), encodeFrame(2, bytes('0b'))])
    const bodies = drain(decoderOf(two)).map((envelope) => envelope.body)
    expect(bodies.map((body) => body.buffer === two.buffer)).toEqual([true, true])
  })

  test('[R-FR-3] all four bytes of a length are written and read', () => {
    for (const size of [0, 253, 254, 65_533, 65_534, 70_000, envelopeBytesMax - 2]) {
      const frame = encodeFrame(0x1234, new Uint8Array(size).fill(7))
      expect(Buffer.from(frame).readUInt32BE()).toBe(size + 2)
      const [envelope, ...more] = drain(decoderOf(frame, envelopeBytesMax))
      expect([envelope?.kind, envelope?.body.length, more.length]).toEqual([0x1234, size, 0])
    }
  })

  test('[R-FR-3] no frame above 8 MiB and no kind beyond u16 can be encoded', () => {
    expect(envelopeBytesMax).toBe(8_388_608)
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

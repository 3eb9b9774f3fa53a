import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readVarint, varint } from '../varint.ts'
import { decodeHuffman } from './huffman.ts'
import { decodeHeaders, encodeAnswer, HeadersBroken } from './qpack.ts'
import { RequestStream } from './request-stream.ts'

describe('integers of QUIC', () => {
  test.each([
    ['25', 37],
    ['7bbd', 15_293],
    ['9d7f3e7d', 494_878_333],
  ])('[R-QU-6] %s is the example of the standard', (hex, value) => {
    expect(readVarint(Buffer.from(hex, 'hex'))?.value).toBe(value)
  })

  test('[R-QU-6] what is written is read, and half of it is nothing yet', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 32 - 1 }), (value) => {
        const bytes = Uint8Array.from(varint(value))
        expect(readVarint(bytes)).toEqual({ value, end: bytes.length })
        expect(readVarint(bytes.subarray(0, -1))).toBeUndefined()
      }),
    )
  })
})

describe('headers', () => {
  test.each([
    ['f1e3c2e5f23a6ba0ab90f4ff', 'www.example.com'],
    ['a8eb10649cbf', 'no-cache'],
    ['9d29ad171863c78f0b97c8e9ae82ae43d3', 'https://www.example.com'],
  ])('[R-QU-6] the Huffman code %s is the example of the standard', (hex, text) => {
    expect(decodeHuffman(Buffer.from(hex, 'hex'))).toBe(text)
  })

  test('[R-QU-6] a request as a browser writes it', () => {
    const origin = '5f4b919d29ad171863c78f0b97c8e9ae82ae43d3'
    const plain = `500b${hexOf('example.com')}510c${hexOf('/v1/realtime')}`
    const block = Buffer.from(`0000cfd7${plain}${origin}`, 'hex')
    expect(Object.fromEntries(decodeHeaders(block))).toEqual({
      ':method': 'CONNECT',
      ':scheme': 'https',
      ':authority': 'example.com',
      ':path': '/v1/realtime',
      origin: 'https://www.example.com',
    })
  })

  test('[R-QU-6] an answer is read as it was written', () => {
    const block = encodeAnswer(429, [['sec-webtransport-http3-draft', 'draft02']])
    expect([...decodeHeaders(block)]).toEqual([
      [':status', '429'],
      ['sec-webtransport-http3-draft', 'draft02'],
    ])
  })

  test('[R-QU-7] any bytes are headers or are refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        try {
          decodeHeaders(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(HeadersBroken)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('the stream of a request', () => {
  test('[R-QU-6] headers and capsules are found wherever the stream is cut', () => {
    const stream = Buffer.from('0102abcd21010000086843056162636465', 'hex')
    fc.assert(
      fc.property(fc.array(fc.nat({ max: stream.length })), (cuts) => {
        const got: unknown[] = []
        const request = new RequestStream({
          headers: (block) => got.push(Buffer.from(block).toString('hex')),
          closeSession: (code) => got.push(code),
          tooLarge: () => got.push('too large'),
        })
        const places = [0, ...cuts.sort((a, b) => a - b), stream.length]
        for (const [index, place] of places.entries()) {
          request.push(stream.subarray(place, places[index + 1] ?? place))
        }
        expect(got).toEqual(['abcd', 0x61626364])
      }),
    )
  })
})

function hexOf(text: string): string {
  return Buffer.from(text).toString('hex')
}

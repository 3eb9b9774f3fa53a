import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeMessage, MessageReader } from './messages.ts'
import type { FromWorker, ToWorker } from './protocol.ts'

const texts = fc.array(fc.option(fc.string({ unit: 'grapheme' })), { maxLength: 5 })
const buffer = fc.array(fc.double(), { maxLength: 9 }).map((words) => {
  return Float64Array.from(words).buffer
})
const value = fc.oneof(fc.bigInt(), fc.string(), fc.uint8Array(), fc.constant(undefined))
const id = fc.nat()

const calls = fc.record({
  type: fc.constant('batch' as const),
  calls: fc.nat({ max: 256 }),
  buffer,
  texts,
  results: fc.array(fc.record({ id, ok: fc.constant(true as const), value }), { maxLength: 2 }),
  now: fc.option(fc.record({ unixMs: fc.nat(), monotonicMs: fc.double({ noNaN: true }) }), {
    nil: undefined,
  }),
})

const output = fc.record({
  type: fc.constant('batch' as const),
  answered: fc.nat({ max: 2 }),
  words: fc.nat(),
  buffer,
  texts: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 5 }),
  calls: fc.array(
    fc.record({
      id,
      invocation: id,
      room_id: fc.option(id),
      name: fc.string(),
      args: fc.array(value, { maxLength: 2 }),
    }),
    { maxLength: 2 },
  ),
  stopped: fc.array(fc.record({ id, invocation: id }), { maxLength: 2 }),
})

const ping = fc.record({ type: fc.constant('ping' as const), n: fc.nat() })
const message: fc.Arbitrary<ToWorker | FromWorker> = fc.oneof(calls, output, ping)

describe('messages of a channel', () => {
  it('[S-WP-1] [S-WP-2] arrive whole and in their order, however their bytes are cut', () => {
    const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 20 })
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), cuts, (sent, lengths) => {
        const reader = new MessageReader()
        const bytes = Buffer.concat(sent.map(encodeMessage))
        const arrived: unknown[] = []
        let at = 0
        for (const length of [...lengths, bytes.length]) {
          arrived.push(...reader.read(bytes.subarray(at, at + length)))
          at = Math.min(bytes.length, at + length)
        }
        expect(arrived).toEqual(sent)
      }),
    )
  })

  it('[S-WP-4] have buffers and values of their own, which show nothing of the others', () => {
    const value = new Uint8Array(4000).fill(1)
    const results = [{ id: 1, ok: true as const, value }]
    const batch = { type: 'batch' as const, calls: 0, texts: [], results }
    const sent = encodeMessage({ ...batch, buffer: new ArrayBuffer(8) })
    const [first] = new MessageReader().read(Buffer.concat([sent, sent, sent])) as ToWorker[]
    if (first?.type !== 'batch') throw new Error('it is a batch')
    expect(first.buffer.byteLength).toBe(8)
    const [result] = first.results
    const view = result?.ok ? (result.value as Uint8Array) : undefined
    expect(view).toEqual(value)
    expect(view?.buffer.byteLength).toBeLessThan(sent.length)
  })

  it.each([
    ['of an unknown form', [0, 9]],
    ['longer than any is', [0xff_ff_ff_ff, 0]],
    ['a value that is none', [4, 0, 77]],
    ['a batch without a head', [4, 2, 0]],
    ['a batch with less than its buffer', [16, 2, 0, 0, 8, 0]],
    ['a batch with less than its texts', [16, 2, 0, 0, 0, 1]],
    ['a batch with half a text', [20, 2, 0, 0, 0, 1, 1]],
    ['a batch with more texts than it has bytes', [16, 2, 0, 0, 0, 0xff_ff_ff_ff]],
  ])('[S-WP-4] are refused: %s', (_what, words) => {
    const bytes = Buffer.from(Uint32Array.from(words).buffer)
    expect(() => new MessageReader().read(bytes)).toThrow()
  })
})

import { serialize } from 'node:v8'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { encodeMessage, MessageReader } from './messages.ts'
import { type FromWorker, parseFromWorker, type ToWorker } from './protocol.ts'

const texts = fc.array(fc.option(fc.string({ unit: 'grapheme' })), { maxLength: 5 })
const buffer = fc.array(fc.double(), { minLength: 5, maxLength: 9 }).map((words) => {
  return Float64Array.from(words).buffer
})
const odd = fc.constantFrom(undefined, null, -0, Number.NaN)
const value = fc.oneof(fc.bigInt(), fc.string(), fc.uint8Array(), odd, fc.array(odd))
const id = fc.nat()

const result = fc.oneof(
  fc.record(
    { id, ok: fc.constant(true as const), value, kept: fc.constant(true as const) },
    { requiredKeys: ['id', 'ok', 'value'] },
  ),
  fc.record(
    {
      ...{ id, ok: fc.constant(false as const), code: fc.constantFrom('conflict', 'http_error') },
      ...{ message: fc.string(), index: id, reason: fc.string() },
    },
    { requiredKeys: ['id', 'ok', 'code', 'message'] },
  ),
)

const calls = fc.record({
  type: fc.constant('batch' as const),
  calls: fc.nat({ max: 256 }),
  buffer,
  texts,
  results: fc.array(result, { maxLength: 3 }),
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
    { maxLength: 3 },
  ),
  stopped: fc.array(fc.record({ id, invocation: id }), { maxLength: 2 }),
})

const ping = fc.record({ type: fc.constant('ping' as const), n: fc.nat() })
const message: fc.Arbitrary<ToWorker | FromWorker> = fc.oneof(calls, output, ping)

/** What came of pieces: the messages, and what is wrong behind them. */
function read(pieces: readonly Uint8Array[], bytesMax = 100_000) {
  const reader = new MessageReader(bytesMax)
  const messages: unknown[] = []
  const take = (message: unknown) => messages.push(message)
  const problems = pieces.map((piece) => reader.read(Buffer.from(piece), take))
  return { messages, problem: problems.find((problem) => problem !== undefined) }
}

function ofWords(words: readonly number[]): Buffer {
  return Buffer.from(Uint32Array.from(words).buffer)
}

function withLength(list: unknown[], length: number): unknown[] {
  list.length = length
  return list
}

describe('messages of a channel', () => {
  it('[S-WP-1] [S-WP-2] arrive whole and in their order, however their bytes are cut', () => {
    const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 20 })
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), cuts, (sent, lengths) => {
        const bytes = Buffer.concat(sent.map(encodeMessage))
        const pieces: Buffer[] = []
        let at = 0
        for (const length of [...lengths, bytes.length]) {
          pieces.push(bytes.subarray(at, at + length))
          at = Math.min(bytes.length, at + length)
        }
        expect(read(pieces)).toEqual({ messages: sent, problem: undefined })
      }),
    )
  })

  it('[S-WP-4] have buffers and values of their own, which show nothing of the others', () => {
    const value = new Uint8Array(4000).fill(1)
    const results = [{ id: 1, ok: true as const, value }]
    const batch = { type: 'batch' as const, calls: 0, texts: [], results }
    const sent = encodeMessage({ ...batch, buffer: new ArrayBuffer(8) })
    const [first] = read([Buffer.concat([sent, sent, sent])]).messages as ToWorker[]
    if (first?.type !== 'batch') throw new Error('it is a batch')
    expect(first.buffer.byteLength).toBe(8)
    const [result] = first.results
    const view = result?.ok ? (result.value as Uint8Array) : undefined
    expect(view).toEqual(value)
    expect(view?.buffer.byteLength).toBeLessThan(sent.length)
  })

  it('[S-WP-4] [S-HK-3] are taken also when what follows them is none', () => {
    const sent = [1, 2].map((n) => encodeMessage({ type: 'ping', n }))
    const bytes = Buffer.concat([...sent, ofWords([4, 9, 77]), ...sent])
    const messages = [1, 2].map((n) => ({ type: 'ping', n }))
    const problem = 'what is no message'
    expect(read([bytes])).toEqual({ messages, problem })
    expect(read([bytes.subarray(0, 11), bytes.subarray(11)])).toEqual({ messages, problem })
  })

  it.each([
    ['of an unknown form', [0, 9]],
    ['a value that is none', [4, 0, 77]],
    ['a value without bytes', [0, 0]],
    ['a batch without a head', [4, 2, 0]],
    ['a batch with less than its buffer', [16, 2, 0, 0, 8, 0]],
    ['a batch with less than its texts', [24, 2, 0, 0, 8, 1, 0, 0]],
    ['a batch with half a text', [28, 2, 0, 0, 8, 1, 0, 0, 1]],
    ['a batch with texts of no record', [20, 2, 0, 0, 0, 1, 0]],
  ])('[S-WP-4] are refused: %s', (_what, words) => {
    expect(read([ofWords(words)]).problem).toBe('what is no message')
  })

  const ofRare = (form: number, rare: object) => {
    const bytes = serialize(rare)
    return Buffer.concat([ofWords([16 + bytes.length, form, 0, 0, 0, 0]), bytes])
  }

  it.each([
    ['calls that are no list', 2, { calls: 'no list' }],
    ['a list of calls with nothing in it', 2, { calls: withLength([], 2 ** 32 - 1) }],
    ['a list of calls that ends in a hole', 2, { calls: withLength([1, 1, null, 'x', []], 6) }],
    ['results that are no list', 1, { results: { length: 0 } }],
    ['a result without its number', 1, { results: ['1', true, 'x'] }],
  ])('[S-WP-4] are refused: %s', (_what, form, rare) => {
    expect(read([ofRare(form, rare)]).problem).toBe('what is no message')
  })

  it('[S-WP-4] hold no call that is cut off', () => {
    const whole = [1, 1, null, 'sleep', [20]]
    for (let length = 0; length < whole.length; length += 1) {
      const [message] = read([ofRare(2, { calls: whole.slice(0, length) })]).messages
      expect(message).toBeDefined()
      expect(parseFromWorker(message) === undefined).toBe(length > 0)
    }
  })

  it('[S-WP-4] are as long as their reader bears, and no longer', () => {
    const sent = encodeMessage({ type: 'profiled', profile: 'x'.repeat(1000) })
    expect(read([sent], sent.length).messages).toHaveLength(1)
    const problem = 'a message that is too long'
    expect(read([sent], sent.length - 1)).toEqual({ messages: [], problem })
    expect(read([sent.subarray(0, 5), sent.subarray(5, 8)], sent.length - 1).problem).toBe(problem)
    expect(read([ofWords([0xff_ff_ff_ff, 0])]).problem).toBe(problem)
  })

  it('[S-WP-4] have no more texts than their bytes hold, whatever they say', () => {
    const texts = 2_000_000
    const head = ofWords([16 + 4 * texts, 2, 0, 0, 0, texts])
    const asked = vi.spyOn(Buffer.prototype, 'readInt32LE')
    expect(read([head, Buffer.alloc(4 * texts)], 10_000_000).problem).toBe('what is no message')
    expect(read([ofWords([24, 2, 0, 0, 8, 0xff_ff_ff_ff, 0, 0])]).problem).toBeDefined()
    expect(asked).not.toHaveBeenCalled()
    asked.mockRestore()
  })

  it('[S-WP-4] share no memory with what a script makes', () => {
    const sent = encodeMessage({ type: 'ping', n: 1 })
    expect(sent.buffer).not.toBe(Buffer.from('of a script').buffer)
  })
})

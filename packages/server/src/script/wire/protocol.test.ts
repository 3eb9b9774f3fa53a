import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CallRecord, createCallReader, encodeCalls } from './call-records.ts'
import { hookCode } from './hooks.ts'
import { visitOutput } from './output-records.ts'
import { parseFromWorker } from './protocol.ts'

const ignore = {
  done() {},
  broadcast() {},
  send() {},
  after() {},
  every() {},
  cancel() {},
  command() {},
  failed() {},
  state() {},
  saved() {},
  fault() {},
  skipped() {},
}

describe('calls', () => {
  const text = fc.option(fc.string())
  const call: fc.Arbitrary<CallRecord> = fc.record({
    id: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    hook: fc.constantFrom(...Object.values(hookCode)),
    participant: fc.nat({ max: 2 ** 52 }),
    room_id: fc.option(fc.nat({ max: 2 ** 52 })),
    detail: fc.double({ noNaN: true }),
    unreliable: fc.boolean(),
    origin: fc.nat({ max: 2 }),
    body: fc.uint8Array({ maxLength: 200 }),
    text,
    about: fc.option(fc.record({ user_id: text, username: text, match_id: text }), {
      nil: undefined,
    }),
    group: fc.constant(undefined),
    isOver: fc.constant(false),
  })

  it('[S-WP-1] [S-WP-2] arrive as they were made, each with a body of its own', () => {
    fc.assert(
      fc.property(fc.array(call, { maxLength: 20 }), (calls) => {
        const read = createCallReader({ ...encodeCalls(calls), calls: calls.length })
        const arrived = calls.map((_call, index) => read(index))
        expect(arrived).toEqual(calls)
        for (const { body } of arrived) expect(body.buffer.byteLength).toBe(body.length)
      }),
    )
  })
})

describe('messages of a worker', () => {
  it('[S-WP-4] are refused at the first hole of a list, however long it says it is', () => {
    const batch = { type: 'batch', answered: 0, words: 0, buffer: new ArrayBuffer(0) }
    const of = (texts: unknown) => parseFromWorker({ ...batch, texts, calls: [], stopped: [] })
    expect(of([])).toBeDefined()
    expect(of(new Array(3))).toBeUndefined()
  })

  it('[S-WP-4] are refused when they are not what they should be', () => {
    const broken = fc.oneof(
      fc.anything(),
      fc.record({
        type: fc.constantFrom('loaded', 'load_failed', 'batch', 'pong', 'print', 'else'),
        answered: fc.anything(),
        words: fc.anything(),
        buffer: fc.anything(),
        handlers: fc.anything(),
        n: fc.constantFrom(-1, 1.5, '1', null),
        level: fc.anything(),
        file: fc.constantFrom(1, null),
      }),
    )
    fc.assert(fc.property(broken, (message) => parseFromWorker(message) === undefined))
  })

  it('[S-WP-4] never make the reader throw or read beyond the buffer', () => {
    const word = fc.oneof(
      fc.nat({ max: 12 }),
      fc.constantFrom(100, -1, 1e300, Number.NaN),
      fc.double(),
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), (words) => {
        const source = { buffer: new Float64Array(words).buffer, words: words.length, texts: ['a'] }
        expect(typeof visitOutput(source, ignore)).toBe('boolean')
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    ['an unknown operation', [9]],
    ['a body beyond the end', [2, 100, 0, 0, 999, 0, -1, -1, 0]],
    ['a list beyond the end', [3, 100, 0, 0, 0, 5, 1]],
    ['a reserved kind', [3, 27, 0, 0, 0, 0]],
    ['a text that is not there', [1, 1, 0, 0, 0, 0, 7]],
    ['an unknown status', [1, 1, 9, 0, 0, 0, -1]],
    ['a timer without delay', [4, 1, 0]],
    ['an unknown command', [6, 999, 0, 0, -1]],
    ['a command without its text', [6, 0, 7, 0, -1]],
    ['a record that is cut off', [2, 100, 0]],
  ])('[S-WP-4] are malformed with %s', (_name, words) => {
    const source = { buffer: new Float64Array(words).buffer, words: words.length, texts: [] }
    expect(visitOutput(source, ignore)).toBe(false)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StateDecoder } from './state-decoder.ts'
import { StateEncoder } from './state-encoder.ts'
import { encodeStateChanges, encodeStateFull } from './state-message.ts'
import { roundTo, type StateDecimals } from './state-numbers.ts'

type Value = null | boolean | number | bigint | string | Value[] | { [name: string]: Value }

/** A sender and receivers who begin at different moments. */
function createPair(decimals?: StateDecimals) {
  const encoder = new StateEncoder(decimals)
  const decoders: StateDecoder[] = [new StateDecoder()]
  let seq = 0
  return {
    encoder,
    decoders,
    /** Sends what the value is now, and returns the bytes of the message. */
    sync(value: unknown): number {
      seq += 1
      const change = encoder.compare(value)
      if (change === 'none') return 0
      const body =
        change === 'whole'
          ? encodeStateFull({ seq, room_id: 7 }, encoder)
          : encodeStateChanges(seq, change)
      for (const decoder of decoders) decoder.take(body)
      return body.length
    },
    join(): StateDecoder {
      const decoder = new StateDecoder()
      decoder.take(encodeStateFull({ seq, room_id: 7 }, encoder))
      decoders.push(decoder)
      return decoder
    },
  }
}

const names = fc.constantFrom('a', 'b', 'c', 'length', 'toString', '__proto__', '0', 'é', '')
const scalars = fc.oneof(
  fc.constantFrom<Value>(null, true, false, '', 'text', 0, -0, 1, 9_007_199_254_740_993n),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ min: -1000, max: 1000, noNaN: true }).map((value) => roundTo(value, 2)),
  fc.string({ maxLength: 4 }),
)
const { tree } = fc.letrec<{ tree: Value }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    scalars as fc.Arbitrary<Value>,
    fc.array(tie('tree'), { maxLength: 5 }),
    fc
      .array(fc.tuple(names, tie('tree')), { maxLength: 5 })
      .map((entries) => Object.fromEntries(entries) as Value),
  ),
}))

describe('changes of a state', () => {
  it('[R-STA-3] lead from each value to the next one exactly, also who came later', () => {
    fc.assert(
      fc.property(fc.array(tree, { minLength: 2, maxLength: 12 }), (values) => {
        const pair = createPair()
        for (const [n, value] of values.entries()) {
          pair.sync(value)
          if (n % 3 === 1) pair.join()
          for (const decoder of pair.decoders) expect(plain(decoder.view)).toEqual(plain(value))
        }
      }),
      { numRuns: 250 },
    )
  })

  it('[R-STA-3] of single members, lead to the next value through thousands of edits', () => {
    fc.assert(
      fc.property(fc.infiniteStream(tree), fc.infiniteStream(fc.nat()), (values, picks) => {
        const pair = createPair()
        const root: Value = { players: {}, list: [] }
        for (let n = 0; n < 400; n += 1) {
          edit(root, next(values), () => next(picks))
          pair.sync(root)
          if (n % 97 === 96) pair.join()
        }
        for (const decoder of pair.decoders) expect(plain(decoder.view)).toEqual(plain(root))
      }),
      { numRuns: 10 },
    )
  })

  it('[R-STA-2] a name that goes when a bad value has gone is kept from no one', () => {
    const pair = createPair()
    pair.sync({ shown: 1, secret: 2 })
    expect(() => pair.sync({ shown: 1, more: 1, bad: undefined })).toThrow('no JSON')
    pair.sync({ shown: 1, more: 2 })
    expect(pair.join().view).toEqual({ shown: 1, more: 2 })
  })

  it('[R-STA-3] a number that was something else is sent as that number again', () => {
    const pair = createPair(2)
    for (const x of [0.5, 1.5, 4.25, 'text', 4.25, null, 4.25, { y: 1 }, 4.25, 5.5]) {
      pair.sync({ x })
      expect(pair.decoders[0]?.view).toEqual({ x })
    }
  })

  it('[R-STA-3] has eight players who all move in at most 75 bytes', () => {
    const pair = createPair(2)
    const random = createRandom()
    const players: { [name: string]: { x: number; y: number; angle: number; hp: number } } = {}
    for (let n = 0; n < 8; n += 1) players[`player-${n}`] = { x: 100, y: 100, angle: 0, hp: 100 }
    const sizes: number[] = []
    for (let n = 0; n < 200; n += 1) {
      for (const player of Object.values(players)) {
        player.x += (random() - 0.5) * 4
        player.y += (random() - 0.5) * 4
        player.angle += (random() - 0.5) * 0.4
        if (random() < 0.1) player.hp -= 1
      }
      sizes.push(pair.sync({ players }))
    }
    const late = sizes.slice(10)
    expect(late.reduce((sum, size) => sum + size, 0) / late.length).toBeLessThan(75)
  })

  it('[R-STA-3] begins its numbers anew before there are 65,536 places', () => {
    const pair = createPair()
    const state: { [name: string]: number } = { a: 0 }
    pair.sync(state)
    for (let n = 0; n < 140; n += 1) {
      for (let k = 0; k < 500; k += 1) state[`p${n}-${k}`] = n
      pair.sync(state)
      for (let k = 0; k < 500; k += 1) delete state[`p${n}-${k}`]
      pair.sync(state)
      state.a = n
      if (n % 50 === 49) pair.join()
    }
    pair.sync(state)
    for (const decoder of pair.decoders) expect(decoder.view).toEqual(state)
  })

  it('[R-STA-3] keeps few numbers of what is gone', () => {
    const pair = createPair(2)
    const bullets: { [id: string]: { x: number; y: number; by: string } } = {}
    const newcomer = () => encodeStateFull({ seq: 1, room_id: 7 }, pair.encoder).length
    const sizes: number[] = []
    for (let n = 0; n < 3_000; n += 1) {
      for (const bullet of Object.values(bullets)) bullet.x += 1.5
      for (const id of [2 * n, 2 * n + 1]) bullets[id] = { x: id, y: 0, by: 'ana' }
      for (const id of [2 * n - 10, 2 * n - 9]) delete bullets[id]
      pair.sync({ bullets })
      if (n % 500 === 250) pair.join()
      if (n % 10 === 0) sizes.push(newcomer())
    }
    expect(Math.max(...sizes)).toBeLessThan(32_768)
    for (const decoder of pair.decoders) expect(decoder.view).toEqual({ bullets })
  })

  it('[R-STA-3] sends the whole where more than 65,536 places change at once', () => {
    const pair = createPair()
    const state = Array.from({ length: 80_000 }, () => 0)
    pair.sync(state)
    pair.sync(state.map((_, n) => n))
    pair.sync(state.map((_, n) => n + 1))
    expect(pair.decoders[0]?.view).toEqual(state.map((_, n) => n + 1))
  })

  it('[R-STA-3] more numbers in a row may step than an entry holds', () => {
    const pair = createPair()
    const state = Array.from({ length: 600 }, () => 0)
    for (const n of [1, 2, 3, 4]) pair.sync(state.fill(n))
    expect(pair.decoders[0]?.view).toEqual(state)
  })

  it('[R-STA-3] numbers are rounded half away from zero under the names that say so', () => {
    const pair = createPair({ x: 1, at: 2 })
    const state = { x: 0.25, y: 0.25, at: [1.005, -0.125, 3], n: { x: -0.25 } }
    pair.sync(state)
    const rounded = { x: 0.3, y: 0.25, at: [1, -0.13, 3], n: { x: -0.3 } }
    expect(pair.decoders[0]?.view).toEqual(rounded)
    expect(pair.sync({ ...state, x: 0.251 })).toBe(0)
  })

  it('[R-STA-3] integers of 64 bits stay exact', () => {
    const pair = createPair()
    pair.sync({ gold: 9_223_372_036_854_775_806n })
    pair.sync({ gold: 9_223_372_036_854_775_807n })
    expect(pair.decoders[0]?.view).toEqual({ gold: 9_223_372_036_854_775_807n })
    expect(pair.join().view).toEqual({ gold: 9_223_372_036_854_775_807n })
  })

  it('[R-STA-5] leaves the objects of what did not change as they were', () => {
    const pair = createPair()
    pair.sync({ a: { deep: [1, { b: 2 }] }, c: { d: 1 } })
    const [decoder] = pair.decoders
    const before = decoder?.view as { a: { deep: unknown[] }; c: object }
    pair.sync({ a: { deep: [1, { b: 3 }] }, c: { d: 1 } })
    const after = decoder?.view as typeof before
    expect(after).not.toBe(before)
    expect(after.a).not.toBe(before.a)
    expect(after.c).toBe(before.c)
    expect(before.a.deep[1]).toEqual({ b: 2 })
    expect(Object.isFrozen(after.a.deep[1])).toBe(true)
  })

  it('[R-STA-2] what is no JSON throws, and the next message is the whole', () => {
    const wrong = [undefined, () => 1, Number.NaN, new Map(), new Date(), Symbol('s'), new Array(1)]
    for (const bad of wrong) {
      const pair = createPair()
      pair.sync({ a: 1 })
      expect(() => pair.encoder.compare({ a: 2, bad })).toThrow(TypeError)
      if (typeof bad !== 'object') {
        const { encoder } = createPair()
        expect(() => encoder.compare({ bad: { bad } })).toThrow(/^bad is \w+, which is no JSON/)
      }
      expect(pair.encoder.isWhole).toBe(false)
      expect(pair.encoder.compare({ a: 3 })).toBe('whole')
    }
    const moved = createPair(0)
    for (const a of [1, 2, 3]) moved.sync({ a })
    expect(() => moved.encoder.compare({ a: undefined })).toThrow(TypeError)
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    expect(() => new StateEncoder().compare(cycle)).toThrow('64 levels')
  })

  it('[R-STA-3] a message that is cut or wrong is refused, never followed', () => {
    const encoder = new StateEncoder()
    encoder.compare({ a: { x: 1, list: [1, 2, 3] } })
    const full = encodeStateFull({ seq: 1, room_id: 7 }, encoder)
    const change = encoder.compare({ a: { x: 2, list: [1, 2, 3, 4], b: 'text' } })
    if (typeof change === 'string') throw new Error('a list is expected')
    const body = encodeStateChanges(2, change)
    for (let cut = 5; cut < body.length - 1; cut += 1) {
      const decoder = new StateDecoder()
      decoder.take(full)
      const before = decoder.view
      let isRefused = false
      try {
        decoder.take(body.subarray(0, cut))
      } catch {
        isRefused = true
      }
      if (isRefused) expect(decoder.view).toBe(before)
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const decoder = new StateDecoder()
        decoder.take(full)
        try {
          decoder.take(Uint8Array.of(1, 0, 0, 0, 2, ...bytes))
        } catch (error) {
          expect((error as Error).name).toBe('WireError')
        }
      }),
    )
  })
})

/** Changes a member somewhere, adds or removes one, or shuffles an array. */
function edit(root: Value, value: Value, pick: () => number): void {
  let at = root
  for (let depth = pick() % 4; depth > 0; depth -= 1) {
    const inner = Object.values(at as object).filter(
      (member): member is Value[] => typeof member === 'object' && member !== null,
    )
    if (inner.length === 0) break
    at = inner[pick() % inner.length] ?? at
  }
  if (Array.isArray(at)) {
    const action = pick() % 4
    if (action === 0) at.push(value)
    else if (action === 1) at.pop()
    else if (action === 2) at.reverse()
    else if (at.length > 0) at[pick() % at.length] = value
    return
  }
  const tree = at as { [name: string]: Value }
  const name = ['a', 'b', 'c', 'length', 'toString', '7'][pick() % 6] ?? 'a'
  if (pick() % 4 === 0) delete tree[name]
  else tree[name] = value
}

/** JSON has one zero, and does not say whether a large integer was a number or a bigint. */
function plain(value: unknown): unknown {
  if (Object.is(value, -0)) return 0
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return new Map(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}

function next<T>(stream: Iterator<T>): T {
  return stream.next().value as T
}

function createRandom(): () => number {
  let seed = 12_345
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed / 2_147_483_648
  }
}

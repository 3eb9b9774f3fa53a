import { Script } from 'node:vm'
import { expect, it } from 'vitest'
import { createRandom, editRandomly, editsOr, plain, randomValue } from './random-edits.fixture.ts'
import { StateBudget } from './state-budget.ts'
import { StateCopy, stateBytesMax } from './state-copy.ts'

const copyOf = (state: unknown) => {
  const copy = new StateCopy()
  copy.update(state)
  return copy
}

it.each([
  ['undefined', { a: undefined }, 'a is undefined'],
  ['a function', { a: [() => 1] }, 'a is function'],
  ['a symbol', { a: Symbol('x') }, 'a is symbol'],
  ['NaN', { a: Number.NaN }, 'a is NaN'],
  ['infinity', [Number.NEGATIVE_INFINITY], 'is -Infinity'],
  ['an integer beyond 64 bits', { a: 2n ** 63n }, 'beyond 64 bits'],
  ['half a character', { a: '\ud800' }, 'no whole text'],
  ['a map', { a: new Map() }, 'of the class Map'],
  ['a date', { a: new Date(0) }, 'of the class Date'],
  ['a list with holes', { a: new Array(3) }, 'a is undefined'],
])(
  '[S-STA-2] [R-STA-2] a state with %s is refused, and nothing is taken over',
  (_, bad, problem) => {
    const copy = copyOf({ n: 1 })
    expect(() => copy.update({ n: 2, more: bad })).toThrow(problem)
    expect(copy.text()).toBe('{"n":1}')
    expect(copy.update({ n: 1 })).toBe(false)
  },
)

it('[R-STA-2] a cycle is refused like more than 64 levels', () => {
  const state: { self?: unknown } = {}
  state.self = state
  expect(() => copyOf(state)).toThrow('64 levels')
  const copy = copyOf({})
  expect(() => copy.update(state)).toThrow('64 levels')
  expect(copy.text()).toBe('{}')
})

it('[R-STA-2] 256 KiB are a state, and one byte more is none', () => {
  const whole = { text: 'x'.repeat(stateBytesMax - '{"text":""}'.length) }
  const copy = copyOf(whole)
  expect(copy.bytes).toBe(stateBytesMax)
  expect(() => copy.update({ text: `${whole.text}x` })).toThrow('262145 bytes as JSON')
  expect(copy.update(whole)).toBe(false)
  expect(() => copyOf({ text: `${whole.text}x` })).toThrow('at most 262144')
})

it('[R-STA-2] 10,000 names, and names of the language, are names like others', () => {
  const names = ['__proto__', 'constructor', 'length', 'toString', 'hasOwnProperty', '']
  const state = JSON.parse(`{${names.map((name) => `"${name}":{"n":1}`).join(',')}}`)
  for (let n = 0; n < 10_000; n += 1) state[`name-${n}`] = n
  const copy = copyOf(state)
  expect(copy.text()).toBe(JSON.stringify(state))
  const back = copy.fresh() as { [name: string]: unknown }
  expect(JSON.stringify(back)).toBe(JSON.stringify(state))
  expect(Object.getPrototypeOf(back)).toBe(Object.prototype)
  delete state.length
  expect(copy.update(state)).toBe(true)
  expect(copy.text()).toBe(JSON.stringify(state))
})

it('[R-STA-2] what is frozen throughout is shared, and an object at two places is two values', () => {
  const frozen = Object.freeze({ deep: Object.freeze([1, 2]) })
  const pair = { n: 1 }
  const copy = copyOf({ frozen, a: pair, b: pair })
  const back = copy.fresh() as { frozen: unknown; a: { n: number }; b: { n: number } }
  expect(back.frozen).toBe(frozen)
  back.a.n = 2
  expect(back.b.n).toBe(1)
})

it('[R-STA-2] the states of all rooms have one bound, which counts what is there', () => {
  const budget = new StateBudget(() => 1000)
  const [one, other] = [new StateCopy(budget), new StateCopy(budget)]
  one.update({ text: 'x'.repeat(600) })
  other.update({ text: 'x'.repeat(300) })
  expect(() => other.update({ text: 'x'.repeat(400) })).toThrow('rooms.state_bytes_total')
  expect(other.text()).toHaveLength(311)
  // Changes of numbers and texts add nothing: bounds are made exact before anything is refused.
  for (let n = 0; n < 1000; n += 1) other.update({ text: String(n).padEnd(300, 'x') })
  one.update({ text: '' })
  other.update({ text: 'x'.repeat(900) })
  budget.remove(one)
  expect(() => new StateCopy(budget).update({ text: 'x'.repeat(100) })).toThrow('1000 bytes')
  new StateCopy(budget).update({ text: 'x'.repeat(50) })
})

it('[R-STA-2] [S-STA-2] follows random edits, and goes back where a slice has failed', () => {
  const random = createRandom(1)
  let state: { [name: string]: unknown } = {}
  const copy = copyOf(state)
  for (let n = 0; n < editsOr(10_000); n += 1) {
    if (n % 1000 === 999) state = { a: randomValue(random) }
    const before = n % 20 === 0 ? plain(copy.fresh()) : undefined
    editRandomly(state, random)
    if (before === undefined) {
      copy.update(state)
    } else {
      editRandomly(state, random)
      state.bad = undefined
      expect(() => copy.update(state)).toThrow('bad is undefined')
      expect(plain(copy.fresh())).toEqual(before)
      state = copy.fresh() as typeof state
    }
    if (n % 20 > 0) continue
    expect(copy.update(state)).toBe(false)
    expect(plain(copy.fresh())).toEqual(plain(state))
  }
})

it('[R-STA-2] [S-STA-2] an update that a deadline ends is taken back', () => {
  const copy = copyOf({ a: { n: 1 }, list: [1, 2], last: 0 })
  const state = {
    a: { n: 2, more: true },
    list: [3],
    get last(): number {
      for (;;);
    },
  }
  const script = new Script('globalThis.updateCopy()')
  Object.assign(globalThis, { updateCopy: () => copy.update(state) })
  expect(() => script.runInThisContext({ timeout: 20 })).toThrow('timed out')
  expect(copy.text()).toBe('{"a":{"n":1},"list":[1,2],"last":0}')
  expect(copy.update({ a: { n: 1 }, list: [1, 2], last: 0 })).toBe(false)
})

it('[R-STA-2] numbers that become longer count, also behind an exact count', () => {
  const state = Array.from({ length: 60_000 }, () => 0)
  const copy = copyOf(state)
  expect(copy.bytes).toBeLessThanOrEqual(stateBytesMax)
  expect(() => copy.update(state.map(() => 0.123_456_789))).toThrow('bytes as JSON')
  for (let n = 0; n < 60_000; n += 1) state[n] = 1.123_456_789
  expect(() => copy.update(state)).toThrow('bytes as JSON')
  state.fill(0)
  for (let n = 0; n < 100; n += 1) {
    state[n] = 0.5
    copy.update(state)
  }
  expect(copy.bytes).toBe(JSON.stringify(state).length)
})

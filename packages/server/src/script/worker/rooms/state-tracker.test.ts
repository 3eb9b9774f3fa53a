import { encodeStateChanges, encodeStateFull, StateEncoder } from '@guildhall/contract/state'
import { StateDecoder } from '@guildhall/contract/wire'
import { describe, expect, it } from 'vitest'
import { createRandom, editRandomly, editsOr, plain, randomValue } from './random-edits.fixture.ts'
import { StateCopy } from './state-copy.ts'
import { StateTracker } from './state-tracker.ts'
import { Tracked } from './tracked.ts'

type Tree = { [name: string]: unknown }

/** A state that is followed by its marks alone, and what its members see. */
function createTracked(state: unknown) {
  const tracker = new StateTracker()
  const copy = new StateCopy()
  const encoder = new StateEncoder()
  const decoder = new StateDecoder()
  const tracked = {
    tracker,
    copy,
    get state(): Tree {
      return tracker.state as Tree
    },
    set state(value: unknown) {
      tracker.state = value
    },
    endSlice(): boolean {
      const marks = tracker.takeMarks()
      return marks !== undefined && copy.update(tracker.value, marks)
    },
    failSlice(): void {
      tracker.state = copy.fresh()
    },
    view(): unknown {
      const change = encoder.compare(copy.value)
      if (change === 'whole') decoder.take(encodeStateFull({ seq: 1, room_id: 7 }, encoder))
      else if (change !== 'none') decoder.take(encodeStateChanges(1, change))
      return decoder.view
    },
  }
  tracker.state = state
  tracked.endSlice()
  return tracked
}

describe('a tracked state', () => {
  it('[S-STA-2] [R-STA-2] is followed through random edits as one that is not', () => {
    const [random, same] = [createRandom(7), createRandom(7)]
    let state: Tree = { a: {}, list: [] }
    const tracked = createTracked({ a: {}, list: [] })
    const copy = new StateCopy()
    copy.update(state)
    for (let n = 0; n < editsOr(15_000); n += 1) {
      if (n % 500 === 499) {
        state = { a: randomValue(random), list: [randomValue(random)] }
        tracked.state = { a: randomValue(same), list: [randomValue(same)] }
      }
      editRandomly(state, random)
      editRandomly(tracked.state, same)
      if (n % 3 === 0) expect([n, tracked.endSlice()]).toEqual([n, copy.update(state)])
      if (n % 15 === 0) expect(plain(tracked.view())).toEqual(plain(copy.fresh()))
      if (n % 90 > 0) continue
      expect(plain(tracked.copy.fresh())).toEqual(plain(copy.fresh()))
      expect(plain(tracked.state)).toEqual(plain(state))
      expect(tracked.copy.update(tracked.tracker.value)).toBe(false)
    }
  }, 900_000)

  it('[S-STA-2] is as before a slice that fails, and goes on from there', () => {
    const tracked = createTracked({ players: { a: { hp: 1 } }, list: [1] })
    tracked.view()
    const held = tracked.state.players as Tree
    tracked.state.list = [{ hp: 2 }]
    held.b = { hp: 3 }
    held.bad = undefined
    expect(() => tracked.endSlice()).toThrow('bad is undefined')
    tracked.failSlice()
    expect(plain(tracked.state)).toEqual(plain({ players: { a: { hp: 1 } }, list: [1] }))
    // What a failed slice held is no part of the state any more.
    held.c = 1
    tracked.endSlice()
    expect(tracked.endSlice()).toBe(false)
    const { players } = tracked.state as { players: { a: { hp: number } } }
    players.a.hp += 1
    expect(tracked.endSlice()).toBe(true)
    expect(tracked.view()).toEqual({ players: { a: { hp: 2 } }, list: [1] })
  })

  it('[R-STA-2] compares nothing but what was written to', () => {
    const world = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`p${n}`, { hp: n }]))
    const tracked = createTracked({ world, list: [{ n: 1 }, { n: 2 }] })
    tracked.view()
    const reads: string[] = []
    for (const [name, player] of Object.entries(world)) {
      const get = () => reads.push(name)
      Object.defineProperty(player, 'read', { get, enumerable: true, configurable: true })
    }
    const state = tracked.state as { world: { [name: string]: Tree }; list: { n: number }[] }
    Object.assign(state.world.p7 ?? {}, { hp: 70 })
    state.list[1] = { n: 3 }
    tracked.endSlice()
    tracked.view()
    state.world.p100 = { hp: 100 }
    delete state.world.p3
    tracked.endSlice()
    expect(tracked.view()).toMatchObject({ world: { p7: { hp: 70 }, p100: { hp: 100 } } })
    expect(new Set(reads)).toEqual(new Set())
  })

  it('[R-STA-2] an object that stands at two places changes at both', () => {
    const pair = { n: 1 }
    const tracked = createTracked({ a: pair, b: { inner: pair }, list: [] })
    const state = tracked.state as { a: Tree; b: { inner: Tree }; list: Tree[] }
    state.b.inner.n = 2
    state.list.push(state.a)
    tracked.endSlice()
    state.a.n = 3
    tracked.endSlice()
    expect(tracked.view()).toEqual({ a: { n: 3 }, b: { inner: { n: 3 } }, list: [{ n: 3 }] })
  })

  it('[R-STA-2] what is read twice is the same object, and found among others', () => {
    const tracked = createTracked({ list: [{ n: 1 }, { n: 2 }], one: null })
    const state = tracked.state as { list: Tree[]; one: Tree | null }
    const second = state.list[1] as Tree
    expect(state.list[1]).toBe(second)
    expect(state.list.indexOf(second)).toBe(1)
    state.one = second
    expect(state.one).toBe(second)
    state.one = { ...state.one, more: [second] }
    tracked.endSlice()
    expect(JSON.stringify(tracked.tracker.value)).toBe(JSON.stringify(state))
    expect(tracked.view()).toEqual({
      list: [{ n: 1 }, { n: 2 }],
      one: { n: 2, more: [{ n: 2 }] },
    })
  })

  it('[R-STA-2] an object forgets the places of what is no part of the state any more', () => {
    const target = {}
    const none = () => {
      throw new Error('nothing else is asked')
    }
    const tree = {
      adopt: none,
      faceOf: none,
      targetOf: (value: object) => value,
      addFace: none,
      addMarked: none,
      addUntracked: none,
      isAttached: () => false,
    }
    const bag = new Tracked(tree, target)
    for (let n = 0; n < 1000; n += 1) bag.link(new Tracked(tree, { bag: target }), 'bag')
    expect(bag.links().length).toBeLessThan(10)
  })

  it('[S-STA-4] a write fails as it does where nothing is tracked', () => {
    const odd = {
      get fixed() {
        return 1
      },
      get odd() {
        return 1
      },
      set odd(_) {
        throw new RangeError('not odd')
      },
    }
    const { state } = createTracked({ frozen: {}, odd, list: [1] })
    expect(() => Reflect.set(state.list as [], 'length', -1)).toThrow(RangeError)
    const frozen = state.frozen as Tree
    Object.freeze(frozen)
    const given = state.odd as Tree
    expect(Reflect.set(frozen, 'n', 1)).toBe(false)
    expect(Reflect.set(given, 'fixed', 2)).toBe(false)
    expect(() => Reflect.set(given, 'odd', 2)).toThrow('not odd')
  })

  it('[R-STA-2] what is written past it is not noted', () => {
    const own = { n: 1 }
    const tracked = createTracked({ own, other: 0 })
    own.n = 2
    expect(tracked.endSlice()).toBe(false)
    expect(tracked.copy.update(tracked.tracker.value)).toBe(true)
  })
})

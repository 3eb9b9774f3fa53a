import { runInNewContext } from 'node:vm'
import { parseExact } from '@guildhall/contract'
import { StateEncoder } from '@guildhall/contract/state'
import { StateDecoder } from '@guildhall/contract/wire'
import { expect, it } from 'vitest'
import { readDefinition } from './definition.ts'
import { createRandom, editRandomly, editsOr, plain } from './random-edits.fixture.ts'
import { RoomFollowers, type StateMessage, SyncProblem } from './room-followers.ts'

type State = { shared: string[]; hands: { [participant: string]: string[] } }

const definition = readDefinition(
  'cards',
  {
    create: () => ({}),
    view: ({ shared }: State) => ({ shared }),
    own: ({ hands }: State, { participant }: { participant: number }) => hands[participant] ?? [],
  },
  undefined,
)

/** Two who follow, and what each of them has. */
function start() {
  const followers = new RoomFollowers(definition, 7, 0)
  const decoders = [1, 2].map((participant) => {
    followers.add({ participant, user_id: null, username: null })
    return { participant, decoder: new StateDecoder() }
  })
  return {
    followers,
    sync(state: State) {
      for (const { body, participants } of followers.sync(state, state)) {
        for (const { participant, decoder } of decoders) {
          if (participants.includes(participant)) decoder.take(body)
        }
      }
      return decoders.map(({ decoder }) => ({ view: decoder.view, own: decoder.own }))
    },
    sees: () => decoders.map(({ decoder }) => decoder.view),
  }
}

it('[R-STA-2] the views of a room are together at most 1 MiB, also when they grow bit by bit', () => {
  const { sync, sees } = start()
  const state: State = { shared: [], hands: { 1: ['x'.repeat(300_000)], 2: ['x'.repeat(300_000)] } }
  sync(state)
  for (let n = 0; n < 4; n += 1) {
    state.shared.push('x'.repeat(100_000))
    sync(state)
  }
  const before = { shared: [...state.shared] }
  state.shared.push('x'.repeat(100_000))
  expect(() => sync(state)).toThrow('bytes, at most 1 MiB')
  expect(() => sync(state)).toThrow('bytes, at most 1 MiB')
  expect(sees()).toEqual([before, before])
  state.shared = ['short']
  expect(sync(state)).toEqual([
    { view: { shared: ['short'] }, own: state.hands[1] },
    { view: { shared: ['short'] }, own: state.hands[2] },
  ])
})

it('[R-STA-2] small changes for hours are no large view', () => {
  const { sync } = start()
  const state: State = { shared: ['0'], hands: {} }
  for (let n = 0; n < 20_000; n += 1) {
    state.shared[0] = String(n)
    sync(state)
  }
  expect(sync(state)[0]).toEqual({ view: { shared: ['19999'] }, own: [] })
})

/** Three who follow; the part of the first one is what `first` makes. */
function startBad(first: () => unknown) {
  const shared = { create: () => ({}), view: ({ n }: { n: number }) => n }
  const own = (_state: unknown, { participant }: { participant: number }) =>
    participant === 1 ? first() : 'mine'
  const followers = new RoomFollowers(readDefinition('bad', { ...shared, own }, undefined), 7, 0)
  const decoders = new Map([1, 2, 3].map((participant) => [participant, new StateDecoder()]))
  const add = (participant: number) => {
    followers.add({ participant, user_id: null, username: null })
  }
  return {
    followers,
    add,
    take(messages: readonly StateMessage[]) {
      for (const { body, participants } of messages) {
        for (const participant of participants) decoders.get(participant)?.take(body)
      }
      return [...decoders.values()].map(({ view }) => view)
    },
  }
}

it('[R-STA-2] [R-STA-4] an own part that throws keeps no newcomer from its whole', () => {
  let isWell = true
  const { followers, add, take } = startBad(() => {
    if (isWell) return 'mine'
    throw new Error('not today')
  })
  add(3)
  take(followers.sync({ n: 1 }, null))
  isWell = false
  add(2)
  add(1)
  let problem: unknown
  try {
    followers.welcome({ n: 1 })
  } catch (error) {
    problem = error
  }
  expect(problem).toBeInstanceOf(SyncProblem)
  expect(take((problem as SyncProblem).messages)).toEqual([undefined, 1, 1])
  isWell = true
  expect(take(followers.sync({ n: 2 }, null))).toEqual([2, 2, 2])
})

it('[R-STA-2] what is no JSON is said by its name, and whose answer it is', () => {
  const { followers, add } = startBad(() => ({ hand: undefined }))
  add(1)
  const error = new TypeError('own: hand is undefined, which is no JSON')
  expect(() => followers.sync({ n: 1 }, null)).toThrow(expect.objectContaining({ error }))
  expect(() => followers.sync({ n: Number.NaN }, null)).toThrow('view: it is NaN, which is no JSON')
  const same = new TypeError('not now')
  const n = {
    get odd() {
      throw same
    },
  }
  for (let twice = 0; twice < 2; twice += 1) {
    expect(() => followers.sync({ n }, null)).toThrow(/^view: not now$/)
  }
})

it('[R-STA-2] an own part that never comes is made apart from those of the others', () => {
  let never = true
  const { followers, add, take } = startBad(() => {
    while (never) {}
    return 'mine'
  })
  for (const participant of [1, 2, 3]) add(participant)
  const interrupted = (make: () => unknown) => {
    expect(() => runInNewContext('make()', { make }, { timeout: 200 })).toThrow('timed out')
    followers.interrupted()
  }
  interrupted(() => followers.sync({ n: 1 }, null))
  for (let n = 2; n < 5; n += 1) {
    expect(take(followers.sync({ n }, null))).toEqual([undefined, n, n])
    expect(followers.hasLate).toBe(true)
    interrupted(() => followers.welcomeLate({ n }))
  }
  add(2)
  expect(take(followers.welcome({ n: 4 }))).toEqual([undefined, 4, 4])
  never = false
  expect(take(followers.sync({ n: 5 }, null))).toEqual([undefined, 5, 5])
  expect(take(followers.welcomeLate({ n: 5 }))).toEqual([5, 5, 5])
  expect(followers.hasLate).toBe(false)
  expect(take(followers.sync({ n: 6 }, null))).toEqual([6, 6, 6])
})

it('[R-STA-3] view, own parts and decimals follow random edits, each of them', () => {
  type Edited = { view: unknown[]; own: { [participant: string]: unknown[] } }
  const random = createRandom(11)
  const followers = new RoomFollowers(
    readDefinition(
      'edited',
      {
        create: () => ({}),
        decimals: 0,
        view: ({ view }: Edited) => view,
        own: ({ own }: Edited, { participant }: { participant: number }) => own[participant],
      },
      undefined,
    ),
    7,
    0,
  )
  const decoders = new Map<number, StateDecoder>()
  const enter = (participant: number) => {
    followers.add({ participant, user_id: null, username: null })
    decoders.set(participant, new StateDecoder())
  }
  const rounded = (value: unknown) => {
    const encoder = new StateEncoder(0)
    encoder.compare(value)
    return plain(parseExact(encoder.text()))
  }
  const state: Edited = { view: [0.5], own: { 1: [], 2: [], 3: [] } }
  for (const participant of [1, 2]) enter(participant)
  for (let n = 0; n < editsOr(1500); n += 1) {
    if (n % 500 === 250) enter(3)
    const turn = random(3)
    editRandomly(turn === 0 ? state.view : (state.own[turn] ?? []), random)
    for (const { body, participants } of followers.sync(state, state)) {
      for (const participant of participants) decoders.get(participant)?.take(body)
    }
    const view = rounded(state.view)
    for (const [participant, decoder] of decoders) {
      if (turn === 0) expect(plain(decoder.view)).toEqual(view)
      else if (turn === participant) {
        expect(plain(decoder.own)).toEqual(rounded(state.own[participant]))
      }
    }
  }
})

it('[R-STA-3] a card that is played in a room of eight is at most 25 bytes a message', () => {
  type Table = { pile: string[]; turn: number; hands: { [participant: string]: string[] } }
  const followers = new RoomFollowers(
    readDefinition(
      'table',
      {
        create: () => ({}),
        view: ({ pile, turn, hands }: Table) => ({
          top: pile.at(-1) ?? null,
          turn,
          cards: Object.fromEntries(Object.entries(hands).map(([id, hand]) => [id, hand.length])),
        }),
        own: ({ hands }: Table, { participant }: { participant: number }) => hands[participant],
      },
      undefined,
    ),
    7,
    0,
  )
  const table: Table = { pile: [], turn: 1, hands: {} }
  for (let participant = 1; participant <= 8; participant += 1) {
    followers.add({ participant, user_id: null, username: null })
    table.hands[participant] = Array.from({ length: 8 }, (_, n) => `♠${n + participant}`)
  }
  followers.sync(table, table)
  const sizes: number[] = []
  for (let n = 0; n < 56; n += 1) {
    const hand = table.hands[table.turn] ?? []
    table.pile.push(...hand.splice(n % hand.length, 1))
    table.turn = (table.turn % 8) + 1
    for (const { body, participants } of followers.sync(table, table)) {
      for (const _ of participants) sizes.push(body.length)
    }
  }
  expect(sizes).toHaveLength(56 * 8)
  expect(sizes.reduce((sum, size) => sum + size, 0) / sizes.length).toBeLessThanOrEqual(25)
})

import { StateDecoder } from '@guildhall/contract/wire'
import { expect, it } from 'vitest'
import { readDefinition } from './definition.ts'
import { RoomFollowers } from './room-followers.ts'

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
      for (const { body, participants } of followers.sync(state)) {
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

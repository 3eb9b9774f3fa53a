import { expect, it } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { hookCode } from '../../wire/hooks.ts'
import { Output } from '../output.ts'
import { ownCall } from '../own-call.ts'
import { createRegistry } from '../registry.ts'
import type { GuestStates } from './definition.ts'
import { StateRooms } from './state-rooms.ts'

const { state_create, state_restore, on_tick } = hookCode

function start(definition: object, guest?: GuestStates) {
  const registry = createRegistry()
  registry.addRoom('den', definition, guest)
  const rooms = new StateRooms({
    registry,
    clock: createFakeClock(),
    runSoon() {},
    describe: String,
    stateBytesMax: () => 1_000,
    isTested: () => false,
  })
  const identity = { definition: 'den', room_id: 7, match_id: 'm', name: null, label: {} }
  const text = JSON.stringify({ ...identity, options: null, state: {}, seq: 0, members: [] })
  const callOf = (hook: number) => ({ ...ownCall, hook, room_id: 7, text })
  return { rooms, callOf }
}

it.each([
  ['is no JSON', state_create, () => ({ hp: Number.NaN }), /hp is NaN/],
  ['is too large', state_create, () => ({ text: 'x'.repeat(2_000) }), /bytes/],
  ['is given up', state_create, () => new Promise((made) => setTimeout(made)), undefined],
  ['throws', state_restore, () => Promise.reject(new Error('no')), /no/],
  ['has an answer that is none', state_create, () => ({ n: 1 }), undefined],
])('[R-STA-1] nothing is kept of a room whose state %s', async (_what, hook, make, problem) => {
  const kept = new Map<number, unknown>()
  const guest: GuestStates = {
    read: (id) => kept.get(id),
    // As it crosses into an engine.
    write: (id, state) => void kept.set(id, JSON.parse(JSON.stringify(state))),
    forget: (id) => void kept.delete(id),
    view: () => null,
    own: () => null,
  }
  const { rooms, callOf } = start({ create: make, restore: make }, guest)
  const call = callOf(hook)
  const made = (async () => rooms.handle(call)?.value)()
  if (problem) await expect(made).rejects.toThrow(problem)
  rooms.sliceFailed(call)
  await made.catch(() => {})
  expect([kept.size, rooms.byId(7), rooms.ids()]).toEqual([0, undefined, []])
})

it('[S-STA-4] a state that is nothing is what the engine has it as: None is null', () => {
  let kept: unknown
  const guest: GuestStates = {
    read: () => kept,
    write(_id, state) {
      kept = state ?? null
    },
    forget() {},
    view: () => null,
    own: () => null,
  }
  const { rooms, callOf } = start({ create() {} }, guest)
  rooms.handle(callOf(state_create))
  expect([kept, rooms.ids()]).toEqual([null, [7]])
})

it('[R-STA-2] a tick of several slices is one tick to the syncs of its room', () => {
  const { rooms, callOf } = start({ create: () => ({}), tick_hz: 60, async tick() {} })
  rooms.handle(callOf(state_create))
  const tick = callOf(on_tick)
  rooms.handle(tick)
  const output = new Output()
  for (let slice = 0; slice < 3; slice += 1) {
    const room = rooms.sliceEnded(tick, output)
    if (room !== undefined) rooms.sliceHolds(room, tick, output)
  }
  expect(rooms.byId(7)?.ticksSinceSync).toBe(1)
})

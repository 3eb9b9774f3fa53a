import { expect, it } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { hookCode } from '../../wire/hooks.ts'
import { ownCall } from '../own-call.ts'
import { createRegistry } from '../registry.ts'
import type { GuestStates } from './definition.ts'
import { StateRooms } from './state-rooms.ts'

const { state_create, state_restore } = hookCode

it.each([
  ['is too large', state_create, () => ({ text: 'x'.repeat(2_000) }), /bytes/],
  ['is given up', state_create, () => new Promise((made) => setTimeout(made)), undefined],
  ['throws', state_restore, () => Promise.reject(new Error('no')), /no/],
  ['has an answer that is none', state_create, () => ({ n: 1 }), undefined],
])('[R-STA-1] nothing is kept of a room whose state %s', async (_what, hook, make, problem) => {
  const kept = new Map<number, unknown>()
  const guest: GuestStates = {
    read: (id) => kept.get(id),
    write: (id, state) => void kept.set(id, state),
    forget: (id) => void kept.delete(id),
    view: () => null,
    own: () => null,
  }
  const registry = createRegistry()
  registry.addRoom('den', { create: make, restore: make }, guest)
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
  const call = { ...ownCall, hook, room_id: 7, text }
  const made = (async () => rooms.handle(call)?.value)()
  if (problem) await expect(made).rejects.toThrow(problem)
  rooms.sliceFailed(call)
  await made.catch(() => {})
  expect([kept.size, rooms.byId(7), rooms.ids()]).toEqual([0, undefined, []])
})

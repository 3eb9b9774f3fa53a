/// <reference path="../../../packages/server/guildhall.d.ts" />

import { type Arena, flashKind, type Steer, steerKind } from './protocol.ts'
import { createWorld, enter, leave, setAway, steer, step, viewOf, type World } from './world.ts'

/**
 * The server's side of the arena: a room whose state is the world, moved 20 times a second. Clients
 * say where they want to go; what happens is decided here alone. A change of these files goes on
 * with the worlds as they are.
 */
const game: Guildhall<Arena> = guildhall

// Whoever makes a room makes an arena.
game.on_room_create(() => ({ mode: 'sparks' }))

game.room('sparks', {
  tick_hz: 20,
  // Positions are sent as whole numbers.
  decimals: 0,
  create: (): { state: World; label: GuildhallLabel } => ({
    state: createWorld(),
    label: { map: 'courtyard', max_players: 8, listed: true },
  }),
  join: ({ sender, user_id }, { state }) => enter(state, sender, user_id),
  leave: ({ sender }, { state }) => leave(state, sender),
  drop: ({ sender }, { state }) => setAway(state, sender, true),
  return: ({ sender }, { state }) => setAway(state, sender, false),
  message: {
    [steerKind]({ sender }, body, { state }) {
      // The type says what clients should send, not what they do send.
      const wanted: Steer | null = game.json.decode(body)
      if (typeof wanted === 'object' && wanted !== null) steer(state, sender, wanted)
    },
  },
  tick(dt, room) {
    for (const flash of step(room.state, Math.min(dt, 0.25))) {
      room.broadcast(flashKind, game.json.encode(flash), { unreliable: true })
    }
  },
  view: viewOf,
  ended: ({ state }) => state.result,
})

/// <reference path="../../../packages/server/guildhall.d.ts" />

import {
  type Arena,
  type Happening,
  happeningKind,
  type Steer,
  snapshotKind,
  steerKind,
} from './protocol.ts'
import {
  createWorld,
  enter,
  leave,
  restoreWorld,
  type SavedWorld,
  saveWorld,
  setAway,
  snapshotOf,
  steer,
  step,
  type World,
} from './world.ts'

/**
 * The server's side of the arena: a world per room, moved 20 times a second. Clients say where
 * they want to go; what happens is decided here alone.
 */
const game: Guildhall<Arena> = guildhall
const worlds = new Map<number, World>()

// A change of these files goes on with the worlds as they are.
game.on_unload(() => [...worlds].map(([room, world]) => [room, saveWorld(world)]))

game.on_start(({ state }) => {
  for (const [room, saved] of (state ?? []) as [number, SavedWorld][]) {
    worlds.set(room, restoreWorld(saved))
  }
})

game.on_room_create(() => ({
  map: 'courtyard',
  mode: 'sparks',
  max_players: 8,
  listed: true,
}))

game.on_match_join(({ room_id, participant, user_id }) => {
  enter(worldOf(room_id), participant, user_id)
})

game.on_match_leave(({ room_id, participant }) => leave(worldOf(room_id), participant))

game.on_match_ended(({ room_id }) => {
  worlds.delete(room_id)
})

game.on_drop(({ room_id, sender }) => {
  if (room_id !== null) setAway(worldOf(room_id), sender, true)
})

game.on_return(({ room_id, sender }) => {
  if (room_id !== null) setAway(worldOf(room_id), sender, false)
})

game.on_message(steerKind, ({ room_id, sender, user_id }, body) => {
  // The type says what clients should send, not what they do send.
  const wanted: Steer | null = game.json.decode(body)
  if (room_id === null || typeof wanted !== 'object' || wanted === null) return
  const world = worldOf(room_id)
  // After a restart of the script the players are still there, and their world is new.
  enter(world, sender, user_id)
  steer(world, sender, wanted)
})

game.on_tick((dt, room_id) => {
  if (room_id === null) return
  const world = worldOf(room_id)
  for (const happening of step(world, Math.min(dt, 0.25))) {
    game.broadcast(happeningKind, game.json.encode(happening))
    if (happening.type === 'over') setResult(world, happening)
  }
  const snapshot = snapshotOf(world)
  // The next one is 50 ms away: a lost one is no loss.
  game.broadcast(snapshotKind, game.json.encode(snapshot), true)
})

/** The result of the match is that of its last whole round; operators find it in the record. */
function setResult({ fighters }: World, over: Extract<Happening, { type: 'over' }>): void {
  const { round, winner, scores } = over
  game.match.set_result({
    round,
    winner: fighters.get(winner)?.userId ?? null,
    scores: scores.map(([, score]) => score),
  })
}

function worldOf(roomId: number): World {
  const world = worlds.get(roomId) ?? createWorld()
  worlds.set(roomId, world)
  return world
}

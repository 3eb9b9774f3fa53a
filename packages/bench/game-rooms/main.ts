/// <reference path="../../server/guildhall.d.ts" />

/** Sends every message on to the others of its room, and ticks in every room that wants it. */

let ticks = 0

guildhall.on_message(100, (_ctx, body) => guildhall.broadcast(100, body))

guildhall.on_tick((_dt, room_id) => {
  if (room_id !== null) ticks += 1
})

/** How often `on_tick` has run for a room. */
guildhall.on_rpc('ticks', () => ticks)

/** Rooms of idle players need no ticks. */
guildhall.on_room_create((_ctx, name) => ({
  map: 'bench',
  tick: name?.startsWith('tick') ?? false,
}))

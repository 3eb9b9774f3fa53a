/// <reference path="../../server/guildhall.d.ts" />

/** Rooms that tick and hand their counts over; the benchmark of reloads counts the version up. */
const version = 0

let rooms: Record<string, number> = {}

guildhall.on_start(({ state }) => {
  rooms = (state as typeof rooms | null) ?? {}
})

guildhall.on_unload(() => rooms)

guildhall.on_room_create(() => ({ tick: true }))

guildhall.on_tick((_dt, room) => {
  if (room === null) return
  rooms[room] = (rooms[room] ?? 0) + 1
  guildhall.broadcast(101, String(rooms[room]), true)
})

guildhall.on_rpc('version', () => String(version))

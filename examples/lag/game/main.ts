/// <reference path="../../../packages/server/guildhall.d.ts" />

/** Twenty times a second every room hears how far its clock is: something to measure. */
guildhall.on_room_create(() => ({ tick: true }))

guildhall.on_rpc('ready', () => true)

let ticks = 0
guildhall.on_tick((_dt, room_id) => {
  if (room_id === null) return
  ticks += 1
  guildhall.broadcast(100, guildhall.pack_u64(ticks), false)
})

/// <reference path="../../server/guildhall.d.ts" />

import { crowd, type Mover, move, movesOfCrowd, oneOfCrowd, place, stamp } from './motion.ts'

/** Rooms in which all move, 20 times a second: as a state, with own parts, and by hand. */

type World = { players: { [participant: string]: Mover } }

const decimals = { x: 2, y: 2, angle: 3 }
const world = {
  tick_hz: 20,
  sync_hz: 20,
  decimals,
  create: (): World => ({ players: {} }),
  join(ctx: { sender: number }, room: { state: World }) {
    const { players } = room.state
    players[ctx.sender] = place(Object.keys(players).length)
  },
  tick(dt: number, room: { state: World }) {
    for (const player of Object.values(room.state.players)) move(player, dt)
  },
}

guildhall.room<World>('shared', world)
guildhall.room<World>('tracked', {
  tick_hz: 20,
  sync_hz: 20,
  decimals,
  track: true,
  create() {
    const players = Array.from({ length: crowd }, (_, n) => [String(n), place(n)])
    return { players: Object.fromEntries(players) }
  },
  tick(dt, room) {
    const { players } = room.state
    for (let n = 0; n < movesOfCrowd; n += 1) {
      const player = players[oneOfCrowd()]
      if (player !== undefined) move(player, dt)
    }
  },
})
guildhall.room<World & { at: string }>('stamped', {
  ...world,
  create: () => ({ players: {}, at: '' }),
  tick(dt, room) {
    room.state.at = stamp()
    world.tick(dt, room)
  },
})
guildhall.room<World, object, object>('own', {
  ...world,
  view: ({ players }) => {
    const shown = Object.entries(players).map(([id, { x, y, angle }]) => [id, { x, y, angle }])
    return { players: Object.fromEntries(shown) }
  },
  own: ({ players }, { participant }) => ({ hp: players[participant]?.hp ?? 0 }),
})

/** The same ticks; as many bytes as the name of the room says are sent to all. */
guildhall.room<{ bytes: number }>('plain', {
  tick_hz: 20,
  create: (_ctx, options) => ({ bytes: (options as { bytes: number }).bytes }),
  tick(dt, room) {
    for (const mover of movers) move(mover, dt)
    room.broadcast(100, body.subarray(0, room.state.bytes))
  },
})
const movers = Array.from({ length: 8 }, (_, index) => place(index))
const body = new Uint8Array(1024)

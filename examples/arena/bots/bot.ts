import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '@guildhall/client'
import { type Arena, steerKind } from '../game/protocol.ts'

type Bot = {
  connection: Connection<Arena>
  index: number
  signal: AbortSignal
  call<T>(name: string, run: () => T | Promise<T>): Promise<T>
}

/** Eight share an arena, and each turns where it likes twice a second. */
export default async function bot({ connection, index, signal, call }: Bot): Promise<void> {
  async function enter() {
    const name = `bots-${Math.floor(index / 8)}`
    const room = await call('join', () => connection.rooms.joinOrCreate(name))
    const isMoving = new Promise<void>((resolve) => room.on('state', () => resolve()))
    await call('first state', () => isMoving)
    return room
  }

  for (let turn = index; !signal.aborted; turn += 1) {
    // Whoever was gone for too long has lost the seat, and takes another one.
    const room = connection.rooms.current ?? (await enter())
    room.send(steerKind, { x: Math.cos(turn), y: Math.sin(turn), dash: turn % 4 === 0 })
    await sleep(500)
  }
}

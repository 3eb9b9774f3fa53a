import type { Connection } from '@guildhall/client'
import { type Game, tapKind } from '../src/protocol.ts'

type Bot = {
  connection: Connection<Game>
  index: number
  signal: AbortSignal
  call<T>(name: string, run: () => T | Promise<T>): Promise<T>
}

/** A player of a load test: `npm run bots`. Eight of them share a room, and tap. */
export default async function bot({ connection, index, signal, call }: Bot): Promise<void> {
  const name = `bots-${Math.floor(index / 8)}`
  const enter = () => call('join', () => connection.rooms.joinOrCreate(name))
  while (!signal.aborted) {
    // Whoever was gone for too long has lost the seat, and takes another one.
    const room = connection.rooms.current ?? (await enter())
    room.send(tapKind, { taps: 1 })
    await call('best', () => connection.rpc('best'))
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

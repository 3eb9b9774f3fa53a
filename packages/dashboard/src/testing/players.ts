import { createPlayer, type Room } from '@guildhall/client'
import { recordLag } from '@guildhall/client/lag'

/** The rooms that `play` leaves behind: one that goes on, and one whose match has ended. */
export type Played = {
  open: Room
  /** The account of one who plays in the open room. */
  player: string
  leave(): Promise<void>
}

/** Two players in a duel that goes on, and two who have finished theirs. */
export async function play(url: string): Promise<Played> {
  const [ana, ben] = [await enter(url, 'player-1'), await enter(url, 'player-2')]
  const finished = await ana.connection.rooms.joinOrCreate('finished-duel')
  const second = await ben.connection.rooms.joinOrCreate('finished-duel')
  const isOver = new Promise((resolve) => second.on(100, resolve))
  finished.send(100, 'over')
  await isOver
  await Promise.all([finished.leave(), second.leave()])
  const open = await ana.connection.rooms.joinOrCreate('open-duel')
  await ben.connection.rooms.joinOrCreate('open-duel')
  return {
    open,
    player: ana.user_id,
    leave: async () => void (await Promise.all([ana.connection.close(), ben.connection.close()])),
  }
}

async function enter(url: string, id: string) {
  const player = createPlayer(url)
  const { user_id } = await player.signIn.device({ id, create: true, username: id })
  const connection = await player.connect()
  recordLag(connection, { consent: () => true })
  return { user_id, connection }
}

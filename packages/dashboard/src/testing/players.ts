import { type Connection, createPlayer, type Room } from '@guildhall/client'

/** The rooms that `play` leaves behind: one that goes on, and one whose match has ended. */
export type Played = { open: Room; leave(): Promise<void> }

/** Two players in a duel that goes on, and two who have finished theirs. */
export async function play(url: string): Promise<Played> {
  const [ana, ben] = [await enter(url, 'player-1'), await enter(url, 'player-2')]
  const finished = await ana.rooms.joinOrCreate('finished-duel')
  const second = await ben.rooms.joinOrCreate('finished-duel')
  const isOver = new Promise((resolve) => second.on(100, resolve))
  finished.send(100, 'over')
  await isOver
  await Promise.all([finished.leave(), second.leave()])
  const open = await ana.rooms.joinOrCreate('open-duel')
  await ben.rooms.joinOrCreate('open-duel')
  return {
    open,
    leave: async () => void (await Promise.all([ana.close(), ben.close()])),
  }
}

async function enter(url: string, id: string): Promise<Connection> {
  const player = createPlayer(url)
  await player.signIn.device({ id, create: true, username: id })
  return player.connect()
}

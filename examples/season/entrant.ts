import { createPlayer } from '@guildhall/client'

/** The kind on which the game's script sends news. */
const newsKind = 101

type News = { [name: string]: unknown }

/** A player of the season, connected to the game. */
export type Entrant = {
  readonly name: string
  readonly id: string
  /** Asks the script for a place in the cup that is open; rejects with the script's own words. */
  enter(): Promise<unknown>
  /** Submits a score to the cup that runs. */
  score(points: number): Promise<unknown>
  gold(): Promise<number>
  /** Resolves with the first news that fits, whether it has come already or not. */
  hears(fits: (news: News) => boolean): Promise<News>
  leave(): Promise<void>
}

/** Signs a new player up and joins the game. */
export async function join(baseUrl: string, name: string): Promise<Entrant> {
  const player = createPlayer(baseUrl)
  const unique = `${name}-${crypto.randomUUID()}`
  const { user_id } = await player.signIn.device({ id: unique, create: true, username: unique })
  const connection = await player.connect()
  const heard: News[] = []
  const waiting = new Set<() => void>()
  connection.on('message', (message) => {
    if (message.kind !== newsKind) return
    heard.push(message.json() as News)
    for (const look of waiting) look()
  })
  return {
    name,
    id: user_id,
    enter: () => connection.rpc('enter'),
    score: (points) => connection.rpc('score', String(points)),
    gold: async () => ((await connection.rpc('gold')) as { gold: number }).gold,
    hears(fits) {
      return new Promise((resolve) => {
        const look = () => {
          const news = heard.find(fits)
          if (news === undefined) return
          waiting.delete(look)
          resolve(news)
        }
        waiting.add(look)
        look()
      })
    },
    async leave() {
      await connection.close()
      await player.logout()
    },
  }
}

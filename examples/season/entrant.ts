import { createPlayer } from '@guildhall/client'

/** The kind on which the game's script tells news. */
const newsKind = 101

type News = { [name: string]: unknown }

/** A player of the season, connected to the game. */
export type Entrant = {
  readonly name: string
  readonly id: string
  /** Asks the script for a place in a tournament; rejects with the script's own words. */
  enter(tournamentId: string): Promise<unknown>
  /** Resolves with the first news that fits, whether it has come already or not. */
  hears(fits: (news: News) => boolean): Promise<News>
  leave(): Promise<void>
}

/** Signs a new player up and joins the game. */
export async function join(baseUrl: string, name: string): Promise<Entrant> {
  const player = createPlayer(baseUrl)
  const unique = `${name}-${crypto.randomUUID()}`
  const { user_id } = await player.signIn.device({ id: unique, create: true, username: unique })
  const realtime = await player.connect()
  const heard: News[] = []
  const waiting = new Set<() => void>()
  realtime.onEnvelope(({ kind, body }) => {
    if (kind !== newsKind) return
    heard.push(JSON.parse(new TextDecoder().decode(body)))
    for (const look of waiting) look()
  })
  return {
    name,
    id: user_id,
    async enter(tournamentId) {
      const reply = await realtime.rpc('enter', new TextEncoder().encode(tournamentId))
      return JSON.parse(new TextDecoder().decode(reply))
    },
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
      realtime.close()
      await realtime.closed
      await player.logout()
    },
  }
}

import { playerAccountsApi, type SessionTokens, sessionsApi, signInApi } from '@guildhall/contract'
import { createHttpClient } from './http-client.ts'
import { connectRealtime, type Realtime } from './realtime-client.ts'

export type Player = ReturnType<typeof createPlayer>

/**
 * One player of a game: signs in, keeps the tokens, reads and changes the profile, and connects.
 *
 * @example
 * const player = createPlayer('http://127.0.0.1:7350')
 * await player.signIn.device({ id: deviceId, create: true, username: 'ana' })
 * const realtime = await player.connect()
 */
export function createPlayer(baseUrl: string) {
  let tokens: SessionTokens | undefined
  const bearer = () => tokens?.token
  const doors = createHttpClient(signInApi, { baseUrl })
  const sessions = createHttpClient(sessionsApi, { baseUrl, bearer })
  const unauthenticated = createHttpClient(sessionsApi, { baseUrl })

  async function keep(signedIn: Promise<SessionTokens>): Promise<SessionTokens> {
    tokens = await signedIn
    return tokens
  }

  return {
    signIn: {
      device: (body: Parameters<typeof doors.device>[0]['body']) => keep(doors.device({ body })),
      custom: (body: Parameters<typeof doors.custom>[0]['body']) => keep(doors.custom({ body })),
      email: (body: Parameters<typeof doors.email>[0]['body']) => keep(doors.email({ body })),
    },
    /** Reads and changes the profile, and looks other players up. */
    account: createHttpClient(playerAccountsApi, { baseUrl, bearer }),
    /** The present pair of tokens, or undefined when nobody is signed in. */
    tokens: () => tokens,
    /** Exchanges the pair for a new one; the old one stops at once. */
    refresh: () =>
      keep(unauthenticated.refresh({ body: { refresh_token: tokens?.refresh_token ?? '' } })),
    async logout(): Promise<void> {
      await sessions.logout({ body: {} })
      tokens = undefined
    },
    /** Joins the game: as the account when signed in, else as a guest. */
    connect: (): Promise<Realtime> =>
      connectRealtime({ baseUrl, ...(tokens === undefined ? {} : { token: tokens.token }) }),
  }
}

import type {
  CredentialSignInBody,
  EmailSignInBody,
  GameTypes,
  LookupBody,
  Profile,
  ProfilePatchBody,
} from '@guildhall/contract/wire'
import { GuildhallError, invalidArgument } from './error.ts'
import { type Host, type HostOptions, runtimeHost } from './host.ts'
import { sendRequest } from './http/request.ts'
import type { Off } from './listeners.ts'
import { openConnection } from './realtime/connection.ts'
import type { Connection, ConnectOptions } from './realtime/connection-types.ts'
import { createTransportChoice } from './realtime/transports/transport-choice.ts'
import { reportToConsole } from './report.ts'
import { accountRoutes, sessionRoutes, signInRoutes } from './session/player-routes.ts'
import { SessionKeeper } from './session/session-keeper.ts'
import { memoryStore, type Session, type SessionStore } from './session/session-store.ts'

export type PlayerOptions = HostOptions & {
  /** Where the session is kept between starts; the default is memory. */
  store?: SessionStore
  /** Lifetime of access tokens when the server does not say it; default 3,600,000. */
  accessTtlMs?: number
}

/** One player of a game: signs in, keeps the session, reads and changes the profile, connects. */
export type Player<G extends GameTypes = GameTypes> = {
  /** Each signs in, or registers with `create: true`; all reject with `authentication_failed`. */
  signIn: {
    device(body: CredentialSignInBody): Promise<Session>
    custom(body: CredentialSignInBody): Promise<Session>
    email(body: EmailSignInBody): Promise<Session>
  }
  /** Takes the session that the store has, without a request. */
  restore(): Promise<Session | null>
  session(): Session | null
  /** Exchanges the pair for a new one now; the SDK does so itself in time. */
  refresh(): Promise<Session>
  /** Ends the session at the server, here and in the store, and closes the connection. */
  logout(): Promise<void>
  account: {
    get(): Promise<Profile>
    update(patch: ProfilePatchBody): Promise<Profile>
    lookup(keys: LookupBody): Promise<{ users: Profile[] }>
  }
  on(event: 'session', call: (session: Session | null) => unknown): Off
  /**
   * Joins the game: as the account when signed in, else as a guest. While there is a connection
   * that is not closed, it is this one, whatever the options.
   */
  connect(options?: ConnectOptions): Promise<Connection<G>>
}

/**
 * The player of this device.
 *
 * @param baseUrl Where the node listens, e.g. `https://play.example.com`
 * @throws GuildhallError `invalid_argument` when `baseUrl` is no HTTP address
 * @example
 * const player = createPlayer('http://127.0.0.1:7350', { store: localStorageStore() })
 * if ((await player.restore()) === null) {
 *   await player.signIn.device({ id: deviceId, create: true, username: 'ana' })
 * }
 * const connection = await player.connect()
 */
export function createPlayer<G extends GameTypes = GameTypes>(
  baseUrl: string,
  options: PlayerOptions = {},
): Player<G> {
  return createPlayerOn(runtimeHost(options), baseUrl, options)
}

/** The same on a host of the caller, which tests replace. */
export function createPlayerOn<G extends GameTypes = GameTypes>(
  host: Host,
  baseUrl: string,
  { store = memoryStore(), accessTtlMs = 3_600_000 }: PlayerOptions = {},
): Player<G> {
  const base = checkedBase(baseUrl)
  const keeper = new SessionKeeper({
    host,
    baseUrl: base,
    store,
    accessTtlMs,
    failed: reportToConsole,
  })
  const transports = createTransportChoice(host, base)
  let connection: Connection<G> | undefined
  let connecting: Promise<Connection<G>> | undefined

  const signInBy =
    (method: keyof typeof signInRoutes) =>
    async (body: unknown): Promise<Session> =>
      keeper.adopt(
        await sendRequest(signInRoutes[method], { body }, { baseUrl: base, fetch: host.fetch }),
      )

  return {
    signIn: { device: signInBy('device'), custom: signInBy('custom'), email: signInBy('email') },
    restore: () => keeper.restore(),
    session: () => keeper.present,
    refresh: () => keeper.refresh(),
    async logout() {
      try {
        await keeper.end(endSession)
      } finally {
        await connecting?.catch(() => {})
        await connection?.close()
      }
    },
    // The answers are what the rows of the contract say; the table is not here at run time.
    account: {
      get: () => keeper.request(accountRoutes.get, {}),
      update: (body) => keeper.request(accountRoutes.patch, { body }),
      lookup: (body) => keeper.request(accountRoutes.lookup, { body }),
    } as Player<G>['account'],
    on: (_event, call) => keeper.on(call),
    async connect(connectOptions = {}) {
      if (connection !== undefined && connection.state !== 'closed') return connection
      connecting ??= open(connectOptions).finally(() => {
        connecting = undefined
      })
      return connecting
    },
  }

  async function open(connectOptions: ConnectOptions): Promise<Connection<G>> {
    connection = await openConnection<G>(
      { host, keeper, transports, baseUrl: base },
      connectOptions,
    )
    return connection
  }

  async function endSession({ token, refresh_token }: Session): Promise<void> {
    const parts = { body: refresh_token === null ? {} : { refresh_token } }
    const options = { baseUrl: base, fetch: host.fetch, bearer: token }
    try {
      await sendRequest(sessionRoutes.logout, parts, options)
    } catch (error) {
      // A session that has ended already is what was wanted.
      if (!(error instanceof GuildhallError && error.code === 'authentication_failed')) throw error
    }
  }
}

function checkedBase(baseUrl: string): string {
  if (!isHttpAddress(baseUrl)) {
    throw invalidArgument('the address of a node begins with http:// or https://')
  }
  return baseUrl.replace(/\/+$/, '')
}

function isHttpAddress(text: string): boolean {
  try {
    return /^https?:$/.test(new URL(text).protocol)
  } catch {
    return false
  }
}

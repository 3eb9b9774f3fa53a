import type { SessionTokens } from '@guildhall/contract/wire'
import { GuildhallError } from '../error.ts'
import type { Host } from '../host.ts'
import {
  type Answered,
  type RequestParts,
  type RouteLine,
  sendRequest,
  withDeadline,
} from '../http/request.ts'
import type { Off } from '../listeners.ts'
import { Listeners } from '../listeners.ts'
import { sessionRoutes } from './player-routes.ts'
import { isSession, type Later, type Session, type SessionStore } from './session-store.ts'

export type SessionKeeperOptions = {
  host: Host
  baseUrl: string
  store: SessionStore
  /** Lifetime of an access token when the server does not say it, in milliseconds. */
  accessTtlMs: number
  /** Gets what a listener of `session` throws. */
  failed(error: unknown): void
}

/** A session is renewed when this part of its token's life has passed. */
const dueAfter = 0.8
/** How long a refresh may take: everybody waits for it, so it must not hang. */
const refreshMs = 10_000

/** The player's session: in memory, in the store, and renewed before it ends. */
export class SessionKeeper {
  readonly #options: SessionKeeperOptions
  readonly #listeners: Listeners<'session'>
  #session: Session | null = null
  #ttlMs: number
  #refreshing: Promise<Session> | undefined
  #ending: Promise<void> | undefined

  constructor(options: SessionKeeperOptions) {
    this.#options = options
    this.#ttlMs = options.accessTtlMs
    this.#listeners = new Listeners(options.failed)
  }

  get present(): Session | null {
    return this.#session
  }

  on(call: (session: Session | null) => unknown): Off {
    return this.#listeners.on('session', call)
  }

  /** Takes what the store has, without a request. */
  async restore(): Promise<Session | null> {
    const stored = await this.#load()
    this.#hold(stored, undefined)
    return stored
  }

  /** Keeps the answer of a sign-in or refresh. */
  async adopt({ body, headers }: Answered): Promise<Session> {
    const { token, refresh_token, user_id, username } = body as SessionTokens
    const received_at_unix_ms = this.#options.host.nowMs()
    const session = { token, refresh_token, user_id, username, received_at_unix_ms }
    if (!isSession(session)) throw new GuildhallError('network_error', 'the answer has no session')
    const seconds = Number(headers.get('x-access-expires-in') ?? Number.NaN)
    this.#hold(session, seconds > 0 ? seconds * 1000 : undefined)
    await this.#stored(() => this.#options.store.save(session))
    return session
  }

  /** The session, renewed if it is due; null when nobody is signed in. */
  async fresh(): Promise<Session | null> {
    return this.#session !== null && this.#isDue(this.#session) ? this.refresh() : this.#session
  }

  /** Exchanges the pair for a new one. Calls meanwhile get the same answer. */
  refresh(): Promise<Session> {
    this.#refreshing ??= this.#refreshAlone().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** Sends a request with the token; a 401 refreshes once and repeats once. */
  async request(route: RouteLine, parts: RequestParts): Promise<unknown> {
    const { host, baseUrl } = this.#options
    const send = async (session: Session | null) => {
      if (session === null) throw signedOut('nobody is signed in')
      const options = { baseUrl, fetch: host.fetch, bearer: session.token }
      return (await sendRequest(route, parts, options)).body
    }
    const session = await this.fresh()
    try {
      return await send(session)
    } catch (error) {
      if (!isRefused(error) || session === null) throw error
      // Somebody else may have renewed it while the request was under way.
      return send(this.#session === session ? await this.refresh() : this.#session)
    }
  }

  /**
   * Ends the session: `send` gets the newest pair, and no refresh runs beside it, whose new pair
   * would outlive the logout.
   */
  end(send: (session: Session) => Promise<void>): Promise<void> {
    this.#ending ??= this.#endAlone(send).finally(() => {
      this.#ending = undefined
    })
    return this.#ending
  }

  async #endAlone(send: (session: Session) => Promise<void>): Promise<void> {
    // A refresh that fails changes nothing, or has ended the session already.
    await this.#refreshing?.catch(() => {})
    try {
      if (this.#session !== null) await send(this.#session)
    } finally {
      await this.clear()
    }
  }

  /** Forgets the session in memory and store. */
  async clear(): Promise<void> {
    this.#hold(null, undefined)
    await this.#stored(() => this.#options.store.clear())
  }

  async #refreshAlone(): Promise<Session> {
    const { store } = this.#options
    await this.#ending?.catch(() => {})
    if (store.lock === undefined) return this.#exchange()
    return store.lock(async () => (await this.#takeNewer()) ?? this.#exchange())
  }

  async #exchange(): Promise<Session> {
    const mine = this.#session
    if (mine === null) throw signedOut('nobody is signed in')
    const { host, baseUrl } = this.#options
    try {
      if (mine.refresh_token === null) throw signedOut('the session cannot be refreshed')
      const parts = { body: { refresh_token: mine.refresh_token } }
      const answered = await withDeadline(host, refreshMs, (signal) =>
        sendRequest(sessionRoutes.refresh, parts, { baseUrl, fetch: host.fetch, signal }),
      )
      // Signed in anew or logged out meanwhile: the new pair is of no use any more.
      if (this.#session === mine) return await this.adopt(answered)
    } catch (error) {
      if (!isRefused(error)) throw error
      const newer = await this.#takeNewer()
      if (newer !== null) return newer
      if (this.#session === mine) await this.clear()
      throw signedOut('the session has ended', error)
    }
    if (this.#session === null) throw signedOut('nobody is signed in')
    return this.#session
  }

  /** A pair of the same account that another tab has renewed. */
  async #takeNewer(): Promise<Session | null> {
    const mine = this.#session
    const stored = await this.#load()
    if (mine === null || stored === null || this.#session !== mine) return null
    const isNewer = stored.received_at_unix_ms > mine.received_at_unix_ms
    if (!isNewer || stored.token === mine.token || stored.user_id !== mine.user_id) return null
    this.#hold(stored, undefined)
    return stored
  }

  #hold(session: Session | null, ttlMs: number | undefined): void {
    const before = this.#session
    this.#session = session
    this.#ttlMs = ttlMs ?? this.#options.accessTtlMs
    if (session !== null || before !== null) this.#listeners.emit('session', session)
  }

  #isDue({ received_at_unix_ms }: Session): boolean {
    const age = this.#options.host.nowMs() - received_at_unix_ms
    return age < 0 || age >= dueAfter * this.#ttlMs
  }

  async #load(): Promise<Session | null> {
    const stored: unknown = await this.#stored(() => this.#options.store.load())
    return isSession(stored) ? stored : null
  }

  async #stored<T>(work: () => Later<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      throw new GuildhallError('store_failed', 'the session store failed', { cause })
    }
  }
}

function isRefused(error: unknown): boolean {
  if (!(error instanceof GuildhallError)) return false
  return error.code === 'authentication_failed' || error.code === 'signed_out'
}

function signedOut(message: string, cause?: unknown): GuildhallError {
  return new GuildhallError('signed_out', message, { cause })
}

/** A signed-in player, as it is kept. */
export type Session = {
  token: string
  /** Null when there is nothing to refresh with: the session ends with its token. */
  refresh_token: string | null
  user_id: string
  username: string
  /** When the pair was received, in Unix milliseconds of this device. */
  received_at_unix_ms: number
}

export type Later<T> = T | Promise<T>

/**
 * Where a session is kept between starts of the game. `lock`, if there is one, runs its work alone
 * among everybody who shares the store, such as the tabs of a browser.
 */
export type SessionStore = {
  load(): Later<Session | null>
  save(session: Session): Later<void>
  clear(): Later<void>
  lock?<T>(work: () => Promise<T>): Promise<T>
}

/** Keeps the session as long as the program runs: the default. */
export function memoryStore(): SessionStore {
  let kept: Session | null = null
  return {
    load: () => kept,
    save(session) {
      kept = session
    },
    clear() {
      kept = null
    },
  }
}

/**
 * Keeps the session in the browser's localStorage, for all tabs of the origin; tabs refresh one
 * after another where the browser has Web Locks. A session has one connection: the tab that
 * connects last plays, and that of the others closes for good with `session_replaced`.
 *
 * @param key The item's name; two games of one origin need two.
 * @example createPlayer(url, { store: localStorageStore('my-game') })
 */
export function localStorageStore(key = 'guildhall'): SessionStore {
  const store = storeIn(() => localStorage, key)
  // The DOM's types say that it is always there; not in every browser, nor on insecure pages.
  const locks = (globalThis.navigator as { locks?: Locks } | undefined)?.locks
  if (locks === undefined) return store
  return { ...store, lock: (work) => locks.request(`guildhall:${key}`, work) }
}

/**
 * Keeps the session in the browser's sessionStorage: each tab signs in by itself, may play beside
 * the others, and keeps its session when it is reloaded. A tab that the player duplicates begins
 * with the session of the first one.
 *
 * @param key The item's name; two games of one origin need two.
 * @example createPlayer(url, { store: sessionStorageStore('my-game') })
 */
export function sessionStorageStore(key = 'guildhall'): SessionStore {
  return storeIn(() => sessionStorage, key)
}

/** The storage is looked up with each use: it may throw, and a page without it may still play. */
function storeIn(storage: () => Items, key: string): SessionStore {
  return {
    load() {
      const text = storage().getItem(key)
      return text === null ? null : sessionIn(text)
    },
    save: (session) => storage().setItem(key, JSON.stringify(session)),
    clear: () => storage().removeItem(key),
  }
}

/** Of a browser's storage what a store uses. */
type Items = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Of the browser's lock manager what the store uses. */
type Locks = { request<T>(name: string, work: () => Promise<T>): Promise<T> }

/** Whether a stored value is a session. */
export function isSession(value: unknown): value is Session {
  if (typeof value !== 'object' || value === null) return false
  const { token, refresh_token, user_id, username, received_at_unix_ms } = value as Session
  return (
    typeof token === 'string' &&
    (refresh_token === null || typeof refresh_token === 'string') &&
    typeof user_id === 'string' &&
    typeof username === 'string' &&
    Number.isFinite(received_at_unix_ms)
  )
}

/** What is no session counts as none. */
function sessionIn(text: string): Session | null {
  try {
    const value: unknown = JSON.parse(text)
    return isSession(value) ? value : null
  } catch {
    return null
  }
}

import type { Session, SessionStore } from '@guildhall/client'

/**
 * Keeps the session for this tab: it survives a reload, and two tabs are two players. A game with
 * one player per device takes `localStorageStore()`.
 */
export function tabStore(key = 'arena'): SessionStore {
  return {
    load() {
      const text = sessionStorage.getItem(key)
      return text === null ? null : (JSON.parse(text) as Session)
    },
    save: (session) => sessionStorage.setItem(key, JSON.stringify(session)),
    clear: () => sessionStorage.removeItem(key),
  }
}

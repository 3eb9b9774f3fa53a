import type { Role } from '@guildhall/contract'
import { useSyncExternalStore } from 'react'

/** Who is signed in. `expired`: the token ended, and what is on the page waits for a new one. */
export type Session = {
  token: string
  username: string
  role: Role
  expired: boolean
}

/** Of this tab, and asked of the other tabs of this browser when it opens; never on a disk. */
const storageKey = 'guildhall-session'
const siblings = new BroadcastChannel('guildhall-session')
const listeners = new Set<() => void>()
let current: Session | undefined = readStored()

siblings.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
  if (data === 'who?' && current !== undefined && !current.expired) siblings.postMessage(current)
  else if (data === 'out') set(undefined)
  else if (isSession(data) && (current === undefined || current.expired)) set(data)
})

export const session = {
  current: () => current,

  signedIn(next: Omit<Session, 'expired'>): void {
    set({ ...next, expired: false })
    siblings.postMessage(current)
  },

  /** Called at every refusal of the token; a late one of an old token does nothing. */
  expired(token: string): void {
    if (current?.token === token && !current.expired) set({ ...current, expired: true })
  },

  signOut(): void {
    set(undefined)
    siblings.postMessage('out')
  },

  /** Asks the other tabs; resolves when one has answered, or soon. */
  async askSiblings(): Promise<void> {
    if (current !== undefined) return
    siblings.postMessage('who?')
    await new Promise((resolve) => setTimeout(resolve, 60))
  },
}

export function useSession(): Session | undefined {
  return useSyncExternalStore(subscribe, session.current)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function set(next: Session | undefined): void {
  current = next
  if (next === undefined || next.expired) sessionStorage.removeItem(storageKey)
  else sessionStorage.setItem(storageKey, JSON.stringify(next))
  for (const listener of listeners) listener()
}

function readStored(): Session | undefined {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null')
    return isSession(stored) ? stored : undefined
  } catch {
    return undefined
  }
}

function isSession(value: unknown): value is Session {
  return typeof value === 'object' && value !== null && 'token' in value && 'role' in value
}

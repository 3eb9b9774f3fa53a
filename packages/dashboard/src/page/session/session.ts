import type { Role } from '@guildhall/contract'
import { useSyncExternalStore } from 'react'

/** Who is signed in. `expired`: the token ended, and what is on the page waits for a new one. */
export type Session = {
  token: string
  username: string
  role: Role
  /** When the token ends, by the clock of this machine. */
  endsAtUnixMs: number
  expired: boolean
}

/** The token is in the memory of the tabs alone: a new one asks the others, and no disk has it. */
const siblings = new BroadcastChannel('guildhall-session')
/** So long another tab has to answer, in milliseconds. */
const answerMs = 60
const listeners = new Set<() => void>()
let current: Session | undefined

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

  /** Forgets the token, in all tabs. */
  end(): void {
    set(undefined)
    siblings.postMessage('out')
  },

  /** Asks the other tabs; resolves when one has answered, or soon. */
  async askSiblings(): Promise<void> {
    const isAnswered = new Promise<void>((resolve) => {
      session.subscribe(resolve)
      setTimeout(resolve, answerMs)
    })
    siblings.postMessage('who?')
    await isAnswered
  },

  /** Calls at every change. */
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

export function useSession(): Session | undefined {
  return useSyncExternalStore(session.subscribe, session.current)
}

function set(next: Session | undefined): void {
  current = next
  for (const listener of listeners) listener()
}

function isSession(value: unknown): value is Session {
  return typeof value === 'object' && value !== null && 'token' in value && 'role' in value
}

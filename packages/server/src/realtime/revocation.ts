import { atEndOfTurn, type Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log/log.ts'
import type { LiveSessions } from './ports.ts'

export type Revocation = {
  /** Closes the connections of these sessions with 4004 and ends their seats. */
  closeSessions(sessionIds: readonly string[]): void
  /** Asks again for one session soon, together with the others of this turn. */
  recheck(sessionId: string): void
  /**
   * Asks again for every session here and closes those that are over.
   *
   * @throws what the port throws; nothing is closed then
   */
  revalidate(): Promise<void>
}

type RevocationDeps = {
  /** The sessions that have a connection or a seat. */
  sessionIds(): string[]
  closeSessions(sessionIds: readonly string[]): void
  liveSessions: LiveSessions
  clock: Clock
  log: Log
}

const sessionsPerQuestion = 500
const retryMs = 1000

export function createRevocation(deps: RevocationDeps): Revocation {
  const { closeSessions, liveSessions, clock, log } = deps
  let unchecked = new Set<string>()
  let asking = false

  async function check(sessionIds: readonly string[]): Promise<void> {
    for (let start = 0; start < sessionIds.length; start += sessionsPerQuestion) {
      const asked = sessionIds.slice(start, start + sessionsPerQuestion)
      const live = await liveSessions(asked)
      closeSessions(asked.filter((id) => !live.has(id)))
    }
  }

  async function checkUnchecked(): Promise<void> {
    const asked = unchecked
    unchecked = new Set()
    try {
      await check([...asked])
    } catch (error) {
      // A session that could not be asked about stays suspect until it could.
      log.warn('sessions could not be checked again', { sessions: asked.size, error })
      unchecked = unchecked.union(asked)
      await clock.sleep(retryMs)
    }
    asking = false
    askSoon()
  }

  function askSoon(): void {
    if (asking || unchecked.size === 0) return
    asking = true
    atEndOfTurn(() => void checkUnchecked())
  }

  return {
    closeSessions,
    recheck(sessionId) {
      unchecked.add(sessionId)
      askSoon()
    },
    revalidate: () => check(deps.sessionIds()),
  }
}

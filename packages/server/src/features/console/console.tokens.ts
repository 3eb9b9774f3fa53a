import { hash } from 'node:crypto'
import type { Role } from '@guildhall/contract'
import { type Database, DatabaseUnavailable } from '../../database/database.ts'
import type { HumanPrincipal } from '../../kernel/auth/principal.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Awaitable } from '../../kernel/time/awaitable.ts'
import { consoleStore } from './console.store.ts'

/** Tokens of operators: a text that they hold for whom they are. */
export type Tokens = {
  /** A new one, good until the token expires, is ended, or this boot ends. */
  issue(operator: HumanPrincipal): Awaitable<string>
  /** The operator behind one; undefined when it is unknown or has ended. */
  verify(token: string): Awaitable<HumanPrincipal | undefined>
  /** Ends one at once; false when it had ended already. */
  end(token: string): Awaitable<boolean>
}

export type TokensDeps = {
  clock: Clock
  ids: Pick<Ids, 'consoleToken'>
  expirySec: number
}

type LiveToken = { operator: HumanPrincipal; expiresAtUnixMs: number }

/** Most live tokens of a node; the oldest goes first. */
const tokensMax = 1000

/** Tokens that only this process knows. */
export function createOwnTokens({ clock, ids, expirySec }: TokensDeps): Tokens {
  const tokens = new Map<string, LiveToken>()
  return {
    issue(operator) {
      const token = ids.consoleToken()
      const expiresAtUnixMs = clock.nowUnixMs() + expirySec * 1000
      tokens.set(digestText(token), { operator, expiresAtUnixMs })
      dropOldest(tokens)
      return token
    },
    verify(token) {
      const key = digestText(token)
      const live = tokens.get(key)
      if (live === undefined) return undefined
      if (live.expiresAtUnixMs > clock.nowUnixMs()) return live.operator
      tokens.delete(key)
      return undefined
    },
    end: (token) => tokens.delete(digestText(token)),
  }
}

export type SharedTokensDeps = TokensDeps & {
  db: Database
  bootId: string
  /** Whether another boot is known to be gone. */
  isBootGone(bootId: string): boolean
  /** Whether the configuration of this node knows an operator. */
  isKnown(username: string, role: Role): boolean
}

type SeenToken = LiveToken & { bootId: string; seenAtMs: number }

/** So long what was read of a token holds, in milliseconds. */
const freshMs = 1000

/**
 * Tokens that all nodes of a deployment know, each until the boot that issued it ends. What was
 * seen of a token serves on while the database is away.
 */
export function createSharedTokens(deps: SharedTokensDeps): Tokens {
  const { db, clock, ids, expirySec, bootId, isBootGone, isKnown } = deps
  const seen = new Map<string, SeenToken>()

  function see(digest: string, token: Omit<SeenToken, 'seenAtMs'>): void {
    seen.delete(digest)
    seen.set(digest, { ...token, seenAtMs: clock.monotonicMs() })
    dropOldest(seen)
  }

  function operatorOf({ operator, expiresAtUnixMs, bootId: issuer }: Omit<SeenToken, 'seenAtMs'>) {
    const isOver = expiresAtUnixMs <= clock.nowUnixMs()
    return isOver || isBootGone(issuer) ? undefined : operator
  }

  async function look(digest: string): Promise<HumanPrincipal | undefined> {
    const row = await consoleStore.find(db, Buffer.from(digest, 'base64url'))
    const isLive = row !== undefined && (row.boot_id === bootId || row.slot !== null)
    if (!isLive || !isKnown(row.username, row.role)) {
      seen.delete(digest)
      return undefined
    }
    const operator: HumanPrincipal = { kind: 'human', username: row.username, role: row.role }
    const token = { operator, expiresAtUnixMs: row.expires_at_unix_ms, bootId: row.boot_id }
    see(digest, token)
    return operatorOf(token)
  }

  return {
    async issue(operator) {
      const token = ids.consoleToken()
      const digest = digestText(token)
      const expiresAtUnixMs = clock.nowUnixMs() + expirySec * 1000
      const { username, role } = operator
      await consoleStore.keep(db, {
        ...{ digest: Buffer.from(digest, 'base64url'), username, role, boot_id: bootId },
        expires_at_unix_ms: expiresAtUnixMs,
      })
      see(digest, { operator, expiresAtUnixMs, bootId })
      return token
    },
    verify(token) {
      const digest = digestText(token)
      const known = seen.get(digest)
      if (known === undefined) return look(digest)
      if (clock.monotonicMs() - known.seenAtMs < freshMs) return operatorOf(known)
      return look(digest).catch((error: unknown) => {
        if (error instanceof DatabaseUnavailable) return operatorOf(known)
        throw error
      })
    },
    async end(token) {
      const digest = digestText(token)
      const hasEnded = await consoleStore.end(db, Buffer.from(digest, 'base64url'))
      seen.delete(digest)
      return hasEnded
    },
  }
}

function dropOldest(tokens: Map<string, unknown>): void {
  for (const oldest of tokens.keys()) {
    if (tokens.size <= tokensMax) break
    tokens.delete(oldest)
  }
}

function digestText(token: string): string {
  return hash('sha256', token, 'base64url')
}

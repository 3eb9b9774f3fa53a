import { type SessionTokens, utf8Bytes } from '@guildhall/contract'
import type { Database, Transaction } from '../../database/database.ts'
import type { Row } from '../../database/statement.ts'
import { mergedWrites } from '../../database/writes/merged-writes.ts'
import type { PlayerPrincipal } from '../../kernel/auth/principal.ts'
import { sha256 } from '../../kernel/auth/sha256.ts'
import { refuse } from '../../kernel/failure.ts'
import type { Done, Mutate, Mutation } from '../../kernel/mutation.ts'
import type { Awaitable } from '../../kernel/time/awaitable.ts'
import { seenBy, seenStore } from './sessions.seen.store.ts'
import {
  accessLookup,
  hexOf,
  type KnownSession,
  type NewSession,
  type RefreshDigests,
  type Rotated,
  type Rotation,
  sessionsStore,
} from './sessions.store.ts'
import { createTokens, type TokensDeps } from './sessions.tokens.ts'

export type SessionsDeps = TokensDeps & {
  db: Database
  mutate: Mutate<Transaction>
  config: { revoke_on_replay: boolean }
  /** Called after the commit that revoked these sessions, to close their connections. */
  onRevoked(sessionIds: readonly string[]): void
}

export type Sessions = ReturnType<typeof createSessions>

/** What a player is known by without a password. */
export type Credential = { provider: string; external_id: string }

/** Whose session is opened or continued. */
type Owner = { account_id: string; username: string }

/**
 * Sessions of players. Of their secrets only SHA-256 digests are stored; a session holds on every
 * node of its database and survives restarts of a durable one.
 */
export function createSessions(deps: SessionsDeps) {
  const { db, clock, ids, config, onRevoked } = deps
  const { mint, refreshDigests } = createTokens(deps)

  const insert = mergedWrites<NewSession, boolean>(db, {
    itemsMax: 256,
    run: async (sessions) => {
      // One statement is atomic by itself, and a round trip shorter than a transaction around it.
      const added = await sessionsStore.insertForActive(db, sessions)
      return sessions.map(({ id }) => ({ ok: true, value: added.has(id) }))
    },
  })

  const insertKnown = mergedWrites<KnownSession, Owner | undefined>(db, {
    itemsMax: 256,
    run: async (sessions) => {
      const added = await sessionsStore.insertForKnown(db, sessions)
      const owners = new Map(added.map(({ id, ...owner }) => [id, owner]))
      return sessions.map(({ id }) => ({ ok: true, value: owners.get(id) }))
    },
  })

  function prepare() {
    const { token, refresh_token, now_unix_ms, ...stored } = mint()
    const session = { id: ids.sessionId(), created_at_unix_ms: now_unix_ms, ...stored }
    const tokensOf = ({ account_id, username }: Owner, created: boolean): SessionTokens => {
      return { token, refresh_token, user_id: account_id, username, created }
    }
    return { session, tokensOf }
  }

  async function revoke(sessionId: string): Promise<void> {
    const session = { id: sessionId, now_unix_ms: clock.nowUnixMs() }
    const revoked = await db.transaction((tx) => sessionsStore.revoke(tx, session), {
      isolation: 'read committed',
    })
    if (revoked) onRevoked([sessionId])
  }

  async function revokeReplayed(refresh_digest: Uint8Array): Promise<void> {
    if (!config.revoke_on_replay) return
    const [rotated] = await sessionsStore.findRotated(db, refresh_digest)
    if (rotated !== undefined) await revoke(rotated.session_id)
  }

  const exchange = mergedWrites<Rotation, Rotated | undefined>(db, {
    itemsMax: 256,
    run: async (changes) => {
      const rotated = await rotateAll(changes)
      const byDigest = new Map(rotated.map((row) => [hexOf(row.access_digest), row]))
      return changes.map(({ next_access_digest }) => {
        return { ok: true, value: byDigest.get(hexOf(next_access_digest)) }
      })
    },
  })

  function rotateAll(changes: readonly Rotation[]): Promise<Rotated[]> {
    if (!config.revoke_on_replay) return sessionsStore.rotate(db, changes)
    return db.transaction(
      async (tx) => {
        const rotated = await sessionsStore.rotate(tx, changes)
        sessionsStore.storeRotated(tx, changes, rotated)
        return rotated
      },
      { isolation: 'read committed' },
    )
  }

  /** A token that opens nothing: used before, ended, or of an account that is not active. */
  async function refuseRefresh(used: RefreshDigests): Promise<never> {
    const at = { ...used, now_unix_ms: clock.nowUnixMs() }
    const ended = await db.transaction((tx) => sessionsStore.endOfInactive(tx, at), {
      isolation: 'read committed',
    })
    if (ended === undefined) await revokeReplayed(used.refresh_digest)
    else onRevoked([ended])
    throw refuse.unauthenticated('unusable refresh token')
  }

  return {
    /** Opens a session of a known account; refused when the account is not active any more. */
    async open(owner: Owner): Promise<SessionTokens> {
      const { session, tokensOf } = prepare()
      if (await insert({ ...session, account_id: owner.account_id })) return tokensOf(owner, false)
      throw refuse.unauthenticated('the account is not active')
    },

    /**
     * Opens a session of the account that has this credential; undefined when nobody has it or the
     * account is not active. The credential alone must be enough.
     */
    async openKnown({ provider, external_id }: Credential): Promise<SessionTokens | undefined> {
      const { session, tokensOf } = prepare()
      const owner = await insertKnown({ provider, external_id, ...session })
      return owner && tokensOf(owner, false)
    },

    /** Opens the first sessions of accounts that the same transaction registers. */
    openFirst(tx: Transaction, owners: readonly Owner[]): SessionTokens[] {
      const opened = owners.map((owner) => ({ owner, ...prepare() }))
      sessionsStore.insertFirst(
        tx,
        opened.map(({ owner, session }) => ({ ...session, account_id: owner.account_id })),
      )
      return opened.map(({ owner, tokensOf }) => tokensOf(owner, true))
    },

    /**
     * The player behind an access token, or undefined for anything but a live one. It answers at
     * once where the database knows without asking, so that most requests wait for nothing.
     */
    verifyAccess(token: string): Awaitable<PlayerSession | undefined> {
      if (!accessTokenForm.test(token)) return undefined
      const found = db.find(accessLookup, { access_digest: sha256(token) })
      if (!(found instanceof Promise)) return found && playerOf(found, clock.nowUnixMs())
      return found.then((row) => row && playerOf(row, clock.nowUnixMs()))
    },

    /** Exchanges a refresh token for a new pair; the session keeps its identity. */
    async refresh(refreshToken: string): Promise<SessionTokens> {
      if (!refreshTokenForm.test(refreshToken)) throw refuse.unauthenticated('no refresh token')
      const used = refreshDigests(refreshToken)
      const { token, refresh_token, access_digest, refresh_digest, ...stored } = mint()
      const next = { next_access_digest: access_digest, next_refresh_digest: refresh_digest }
      const rotated = await exchange({ ...used, ...next, ...stored })
      if (rotated === undefined) return refuseRefresh(used)
      const { account_id: user_id, username } = rotated
      return { token, refresh_token, user_id, username, created: false }
    },

    /**
     * Ends the session that the credentials name, expired or not. When they name two different
     * sessions nothing happens; in every case the answer says that the caller is logged out.
     */
    async logout(credentials: { bearer: string | undefined; refresh_token: string | undefined }) {
      const { bearer, refresh_token } = credentials
      if (refresh_token !== undefined && !isPresentable(refresh_token)) {
        throw refuse.unauthenticated('malformed refresh token')
      }
      if (bearer === undefined && refresh_token === undefined) return
      // In a transaction also if it ends nothing: what it found ended already is then on disk, too.
      const ended = await db.transaction(
        async (tx) => {
          const [only, other] = await sessionsStore.named(tx, {
            access_digest: bearer === undefined ? undefined : sha256(bearer),
            refresh: refresh_token === undefined ? undefined : refreshDigests(refresh_token),
          })
          if (only === undefined || other !== undefined) return undefined
          const session = { id: only, now_unix_ms: clock.nowUnixMs() }
          return (await sessionsStore.revoke(tx, session)) ? only : undefined
        },
        { isolation: 'read committed' },
      )
      if (ended !== undefined) onRevoked([ended])
    },

    /** Which of these sessions are still live. */
    liveOf: (sessionIds: readonly string[]): Promise<ReadonlySet<string>> =>
      sessionsStore.live(db, sessionIds, clock.nowUnixMs()),

    forOperators: endings(deps),
  }
}

/** How operators look at sessions, and end them in the transaction of what they change. */
function endings({ db, clock, mutate, onRevoked, config }: SessionsDeps) {
  return {
    /** Commits a change that revokes sessions, then closes their connections. */
    async endSessions<T>(
      mutation: Mutation,
      change: (tx: Transaction) => Promise<Done<T> & { revoked: readonly string[] }>,
    ): Promise<T> {
      let revoked: readonly string[] = []
      const answer = await mutate(
        mutation,
        async (tx) => {
          const done = await change(tx)
          revoked = done.revoked
          return done
        },
        { isolation: 'read committed' },
      )
      if (revoked.length > 0) onRevoked(revoked)
      return answer
    },

    /** When a player was last given tokens; null where nothing is known. */
    lastSeen: (account_id: string): Promise<number | null> =>
      seenStore.ofAccount(db, { account_id, ...seenBy(config) }, clock.nowUnixMs()),

    /** Forgets when a player was last seen, whose account is being deleted. */
    async forgetLastSeen(tx: Transaction, account_id: string): Promise<void> {
      await seenStore.forget(tx, account_id)
    },

    /** Revokes one session; false when it was revoked already. */
    revokeSession: (tx: Transaction, id: string): Promise<boolean> =>
      sessionsStore.revoke(tx, { id, now_unix_ms: clock.nowUnixMs() }),

    /**
     * Revokes every session of an account; answers their ids. The transaction holds the account's
     * row locked, so that no session is opened or refreshed meanwhile.
     */
    revokeSessions: (tx: Transaction, account_id: string): Promise<string[]> =>
      sessionsStore.revokeAllOf(tx, { account_id, now_unix_ms: clock.nowUnixMs() }),
  }
}

type AccessRow = Row<typeof accessLookup.row>

/** The player of a session that is live now. */
function playerOf(row: AccessRow, nowUnixMs: number): PlayerSession | undefined {
  if (row.state !== 'active' || row.revoked_at_unix_ms !== null) return undefined
  if (row.access_expires_at_unix_ms <= nowUnixMs) return undefined
  const { session_id, user_id, username, display_name, refresh_expires_at_unix_ms } = row
  return { kind: 'player', session_id, user_id, username, display_name, refresh_expires_at_unix_ms }
}

/** What a verified access token says. */
export type PlayerSession = PlayerPrincipal & { refresh_expires_at_unix_ms: number }

const accessTokenForm = /^gh\.access\.[A-Za-z0-9_-]{43}$/
const refreshTokenForm = /^gh\.refresh\.[A-Za-z0-9_-]{43}$/

/** Could be a refresh token of some kind: 1 to 4,096 bytes without white space and controls. */
function isPresentable(secret: string): boolean {
  return /^[^\s\p{Cc}]+$/u.test(secret) && utf8Bytes(secret) <= 4096
}

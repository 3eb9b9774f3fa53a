import { timingSafeEqual } from 'node:crypto'
import { type ApiKey, type Scope, scopes } from '@guildhall/contract'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import type { ApiKeyPrincipal } from '../../kernel/auth/principal.ts'
import { sha256 } from '../../kernel/auth/sha256.ts'
import type { Clock } from '../../kernel/clock.ts'
import { type Failure, refuse } from '../../kernel/failure.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Mutate, Mutation } from '../../kernel/mutation.ts'
import { apiKeysStore, credentialLookup, type KeyRow } from './api-keys.store.ts'

export type ApiKeysDeps = {
  db: Database
  clock: Clock
  ids: Ids
  mutate: Mutate<Transaction>
  /** Writes the uses that were noted, so that an operator sees them. */
  flushUse(): Promise<void>
}

type NewKey = {
  name: string
  scopes: readonly Scope[]
  expires_at?: number | null | undefined
}

/** One generation of a key: what rotation and revocation compare before they set. */
type KeyGeneration = { id: string; generation: number }

export type ApiKeys = ReturnType<typeof createApiKeys>

const secretBytes = 32

/**
 * Machine credentials. Of a secret only the SHA-256 digest is stored, and every check asks the
 * database: what is rotated or revoked on one node is refused on all of them with the next request.
 */
export function createApiKeys({ db, clock, ids, mutate, flushUse }: ApiKeysDeps) {
  const nobodysDigest = new Uint8Array(secretBytes)

  return {
    /** Who the bearer is, or undefined when the value is no active key's present one. */
    async verify(value: string): Promise<ApiKeyPrincipal | undefined> {
      const sent = parseKeyValue(value)
      if (sent === undefined) return undefined
      const key = await db.find(credentialLookup, { id: sent.id })
      // Constant-time even for unknown ids: the reply must not reveal which part was wrong.
      const same = timingSafeEqual(sha256(sent.secret), key?.secret_digest ?? nobodysDigest)
      if (!same || key === undefined) return undefined
      if (statusAt(clock.nowUnixMs(), key) !== 'active') return undefined
      return {
        kind: 'api_key',
        credential_id: key.id,
        key_name: key.name,
        scopes: inOrder(key.scopes.split(',')),
        generation: key.generation,
      }
    },

    async create(mutation: Mutation, { name, scopes, expires_at = null }: NewKey) {
      const created_at = clock.nowUnixMs()
      if (expires_at !== null && expires_at <= created_at) {
        throw refuse.invalid('expires_at must be in the future')
      }
      const id = ids.hex128()
      const secret = ids.bytes(secretBytes)
      const key = { id, name, scopes: inOrder(scopes).join(','), created_at, expires_at }
      return mutate(
        mutation,
        async (tx) => {
          const row = await apiKeysStore.insert(tx, { ...key, secret_digest: sha256(secret) })
          if (row === undefined) throw new Error('the new API key did not come back')
          const details = `${wordsOf(row)} scopes=${row.scopes}`
          const answer = { key: metadataAt(created_at, row), secret: formatKeyValue(id, secret) }
          return { answer, target: id, details }
        },
        oneRow,
      )
    },

    async list() {
      await flushUse()
      const rows = await apiKeysStore.list(db)
      const now = clock.nowUnixMs()
      return { keys: rows.map((row) => metadataAt(now, row)) }
    },

    async get(id: string): Promise<ApiKey> {
      await flushUse()
      const row = await apiKeysStore.byId(db, id)
      if (row === undefined) throw unknownKey()
      return metadataAt(clock.nowUnixMs(), row)
    },

    async rotate(mutation: Mutation, { id, generation }: KeyGeneration) {
      await flushUse()
      const secret = ids.bytes(secretBytes)
      const change = { id, generation, secret_digest: sha256(secret) }
      return mutate(
        mutation,
        async (tx) => {
          const now_unix_ms = clock.nowUnixMs()
          const row = await apiKeysStore.rotate(tx, { ...change, now_unix_ms })
          if (row === undefined) throw await refusalOf(tx, { id, generation })
          const answer = { key: metadataAt(now_unix_ms, row), secret: formatKeyValue(id, secret) }
          return { answer, target: id, details: wordsOf(row) }
        },
        oneRow,
      )
    },

    async revoke(mutation: Mutation, { id, generation }: KeyGeneration) {
      await flushUse()
      return mutate(
        mutation,
        async (tx) => {
          const now_unix_ms = clock.nowUnixMs()
          const row = await apiKeysStore.revoke(tx, { id, generation, now_unix_ms })
          if (row === undefined) throw await refusalOf(tx, { id, generation })
          return { answer: metadataAt(now_unix_ms, row), target: id, details: wordsOf(row) }
        },
        oneRow,
      )
    },
  }
}

/** The statement that changes the key decides by the generation that it finds. */
const oneRow = { isolation: 'read committed' } as const

/** The value that a caller shows: `svc_k1_<public id>_<secret>`. */
export function formatKeyValue(id: string, secret: Buffer): string {
  return `svc_k1_${id}_${secret.toString('base64url')}`
}

const keyValue = /^svc_k1_([0-9a-f]{32})_([A-Za-z0-9_-]{43})$/

/** The parts of a well-formed value: of the spellings of one secret only the canonical counts. */
export function parseKeyValue(value: string): { id: string; secret: Buffer } | undefined {
  const [, id, text] = keyValue.exec(value) ?? []
  if (id === undefined || text === undefined) return undefined
  const secret = Buffer.from(text, 'base64url')
  return secret.toString('base64url') === text ? { id, secret } : undefined
}

/** Each scope once, in the order of the interface. */
function inOrder(held: readonly string[]): Scope[] {
  return scopes.filter((scope) => held.includes(scope))
}

function metadataAt(now: number, row: KeyRow): ApiKey {
  return { ...row, scopes: inOrder(row.scopes.split(',')), status: statusAt(now, row) }
}

function statusAt(
  now: number,
  { revoked_at, expires_at }: Pick<KeyRow, 'revoked_at' | 'expires_at'>,
): ApiKey['status'] {
  if (revoked_at !== null) return 'revoked'
  return expires_at !== null && expires_at <= now ? 'expired' : 'active'
}

function wordsOf({ name, generation }: KeyRow): string {
  return `name=${name} generation=${generation}`
}

/** Why a compare-and-set found no row. */
async function refusalOf(tx: Queries, { id, generation }: KeyGeneration): Promise<Failure> {
  const row = await apiKeysStore.byId(tx, id)
  if (row === undefined) return unknownKey()
  if (row.generation !== generation) return refuse.conflict('generation is not the current one')
  return refuse.conflict(row.revoked_at === null ? 'the key has expired' : 'the key is revoked')
}

function unknownKey(): Failure {
  return refuse.notFound('no API key has this id')
}

import { hash } from 'node:crypto'
import type { AccountRow } from '@guildhall/contract'
import type { Queries } from '../../../database/database.ts'
import { statement } from '../../../database/statement.ts'
import type { Caller } from '../../api.ts'
import { expectSame, expectThat } from '../operation.ts'
import type { Random } from '../random.ts'

/** A session. Its tokens are unknown when the answer that held them was lost. */
export type Session = { tokens: Tokens | undefined; live: boolean }
export type Tokens = { access: string; refresh: string }

export type Person = {
  id: string
  username: string
  display_name: string | null
  metadata: string | null
  /** Accounts that an operator made have none. */
  device: string | undefined
  state: AccountRow['state']
  sessions: Session[]
  /** Something that would not be distinguished from a second change is under way. */
  busy: boolean
}

export type People = ReturnType<typeof createPeople>

const peopleMax = 60
const probesMax = 12

/** The accounts with their credentials and sessions: the model, and what the store says of it. */
export function createPeople(random: Random) {
  const people = new Map<string, Person>()
  /** Tokens that must never work again. */
  let dead: Tokens[] = []
  const stored = createStored()

  return {
    stored,
    isFull: () => people.size >= peopleMax,
    add: (person: Person) => void people.set(person.id, person),
    ids: () => [...people.keys()],
    /** A random one that is not busy. */
    idle: (fits: (person: Person) => boolean) =>
      random.pick([...people.values()].filter((person) => !person.busy && fits(person))),
    bury(session: Session): void {
      session.live = false
      if (session.tokens !== undefined) dead.push(session.tokens)
    },
    /** The session goes on with tokens that nobody knows. */
    forgetTokens(session: Session): void {
      if (session.tokens !== undefined) dead.push(session.tokens)
      session.tokens = undefined
    },
    check(): void {
      expectSame([...stored.accounts.keys()].sort(), [...people.keys()].sort(), 'the accounts')
      for (const person of people.values()) checkPerson(person, stored)
    },
    async probe(call: Caller): Promise<void> {
      const held = [...people.values()].flatMap(({ id, state, sessions }) =>
        sessions.flatMap(({ tokens, live }) => (live && tokens ? [{ id, state, tokens }] : [])),
      )
      for (const { id, tokens } of some(held, random)) {
        const { status, body } = await call('GET', '/v1/account', { token: tokens.access })
        expectThat(status === 200, `a live session of ${id} was answered ${status}`)
        expectSame((body as { user_id: string }).user_id, id, 'the owner of a session')
      }
      for (const { access, refresh } of some(dead, random)) {
        const read = await call('GET', '/v1/account', { token: access })
        const body = { refresh_token: refresh }
        const exchange = await call('POST', '/v1/session/refresh', { body })
        expectSame([read.status, exchange.status], [401, 401], 'the answers to dead tokens')
      }
      dead = dead.slice(-10 * probesMax)
    },
  }
}

function checkPerson(person: Person, stored: Stored): void {
  const { id, username, display_name, metadata, state, device, sessions } = person
  const row = stored.accounts.get(id)
  expectSame(row, { id, username, display_name, metadata, state }, `the account ${id}`)
  const linked = device === undefined || state === 'tombstoned' ? [] : [device]
  expectSame(stored.devicesOf(id), linked, `the credentials of ${id}`)
  const rows = stored.sessionsOf(id)
  expectSame(rows.length, sessions.length, `the number of sessions of ${id}`)
  for (const { tokens, live } of sessions) {
    if (tokens === undefined) continue
    const session = stored.sessionOf(tokens)
    expectThat(session !== undefined, `a session of ${id} is gone`)
    expectSame(session?.live, live, `whether a session of ${id} is live`)
  }
  const liveRows = rows.filter((each) => each.live).length
  const liveSessions = sessions.filter((each) => each.live).length
  expectSame(liveRows, liveSessions, `the number of live sessions of ${id}`)
}

type Stored = ReturnType<typeof createStored>

/** What the store says of accounts, credentials and sessions. */
function createStored() {
  let accounts = new Map<string, StoredAccount>()
  let identities: { account_id: string; external_id: string }[] = []
  let sessions: StoredSession[] = []
  const byAccess = new Map<string, StoredSession>()
  const byRefresh = new Map<string, StoredSession>()
  return {
    get accounts() {
      return accounts
    },
    byUsername: (username: string) =>
      [...accounts.values()].find((account) => account.username === username),
    devicesOf: (id: string) =>
      identities.filter(({ account_id }) => account_id === id).map((row) => row.external_id),
    sessionsOf: (id: string) => sessions.filter(({ account_id }) => account_id === id),
    /** Both tokens name the same session, or neither names any. */
    sessionOf({ access, refresh }: Tokens): StoredSession | undefined {
      const session = byAccess.get(digest(access))
      expectThat(session === byRefresh.get(digest(refresh)), 'half of a token pair was exchanged')
      return session
    },
    async read(state: Queries): Promise<void> {
      const rows = await state.all(accountRows, {})
      accounts = new Map(rows.map((row) => [row.id, row]))
      identities = await state.all(identityRows, {})
      sessions = (await state.all(sessionRows, {})).map((row) => ({
        account_id: row.account_id,
        live: row.revoked_at_unix_ms === null,
        access: hexOf(row.access_digest),
        refresh: hexOf(row.refresh_digest),
      }))
      byAccess.clear()
      byRefresh.clear()
      for (const session of sessions) {
        byAccess.set(session.access, session)
        byRefresh.set(session.refresh, session)
      }
    },
  }
}

type StoredAccount = Pick<Person, 'id' | 'username' | 'display_name' | 'metadata'> & {
  state: string
}
type StoredSession = { account_id: string; live: boolean; access: string; refresh: string }

function some<T>(from: readonly T[], random: Random): T[] {
  const chosen = Array.from({ length: probesMax }, () => random.pick(from))
  return [...new Set(chosen)].filter((each) => each !== undefined)
}

function digest(token: string): string {
  return hash('sha256', token, 'hex')
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

const accountRows = statement({
  name: 'crash.accounts',
  text: 'SELECT id, username, display_name, metadata, state FROM accounts',
  row: { id: 'text', username: 'text', display_name: 'text?', metadata: 'text?', state: 'text' },
})

const identityRows = statement({
  name: 'crash.identities',
  text: 'SELECT account_id, external_id FROM identities',
  row: { account_id: 'text', external_id: 'text' },
})

const sessionRows = statement({
  name: 'crash.sessions',
  text: 'SELECT account_id, access_digest, refresh_digest, revoked_at_unix_ms FROM sessions',
  row: {
    account_id: 'text',
    access_digest: 'bytes',
    refresh_digest: 'bytes',
    revoked_at_unix_ms: 'integer?',
  },
})

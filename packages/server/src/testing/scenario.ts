import { randomBytes } from 'node:crypto'
import { SessionTokens } from '@guildhall/contract'
import type { Database } from '../database/database.ts'
import { openDatabase } from '../database/open.ts'
import { statement } from '../database/statement.ts'
import type { TestBackend, TestDatabase } from '../database/testing/backends.ts'
import { silentLog } from '../database/testing/silent-log.ts'
import { createFakeClock, type FakeClock } from '../kernel/clock.fake.ts'
import { createSystemClock } from '../kernel/clock.ts'
import { roomyLimits } from '../script-test/test-config.ts'
import { openTestApi, type TestApi } from './api.ts'
import { rowsOf } from './tables.ts'

/** One deployment: a database, a clock, and as many nodes as a test opens. */
export type Scenario = {
  readonly backend: TestBackend['name']
  readonly db: Database
  /** The first node. */
  readonly api: TestApi
  readonly clock: FakeClock
  /**
   * Opens one more node on the same database. On PostgreSQL it has connections of its own; the
   * other backends belong to one process, whose nodes share them.
   */
  openNode(config?: Record<string, string>): Promise<TestApi>
  /** Stops every node, closes the database, and opens it again with one node. */
  restart(): Promise<void>
  /** Registers an account with a device id of its own. */
  signUp(username?: string): Promise<SignedUp>
  setState(userId: string, state: 'active' | 'disabled' | 'tombstoned'): Promise<void>
  /** The rows of a table, e.g. `rowsOf('accounts', "username = 'ada'")`. */
  rowsOf(table: string, where?: string): ReturnType<typeof rowsOf>
  /** How many rows a table has. */
  countRows(table: string): Promise<number>
  dispose(): Promise<void>
}

export type SignedUp = SessionTokens & { device: string }

const roomy = { 'http.trusted_proxies': '127.0.0.1/32', ...roomyLimits }

export async function openScenario(
  backend: TestBackend,
  config: Record<string, string> = {},
): Promise<Scenario> {
  const clock = createFakeClock()
  // The database lives by the system's clock: its timers would make a leap of a month take minutes.
  const test = await backend.open({ config: { max_connections: 8 } })
  const closers: (() => Promise<void>)[] = []
  let made = 0

  async function openNodeOn(db: Database, more: Record<string, string> = {}): Promise<TestApi> {
    const node = await openTestApi({ db, clock, config: { ...roomy, ...config, ...more } })
    closers.unshift(() => node.close())
    return node
  }

  async function closeNodes(): Promise<void> {
    for (const close of closers.splice(0)) await close()
  }

  let api = await openNodeOn(test.db)
  return {
    backend: backend.name,
    clock,
    get db() {
      return test.db
    },
    get api() {
      return api
    },
    openNode: async (more) => openNodeOn(await databaseOfNode(test, closers), more),
    async restart() {
      await closeNodes()
      await test.reopen()
      api = await openNodeOn(test.db)
    },
    async signUp(username) {
      made += 1
      const device = `device-${made}`
      const body = { id: device, create: true, username: username ?? `player-${made}` }
      const answer = await api.call('POST', '/v1/auth/device', { body })
      if (answer.status !== 201) throw new Error(`signing up was answered: ${answer.text}`)
      return { ...SessionTokens().parse(answer.body), device }
    },
    setState: async (id, state) => void (await test.db.run(setState, { id, state })),
    rowsOf: (table, where) => rowsOf(test.db, table, where),
    countRows: async (table) => (await rowsOf(test.db, table)).length,
    async dispose() {
      await closeNodes()
      await test.dispose()
    },
  }
}

const setState = statement({
  name: 'tests.set-state',
  text: 'UPDATE accounts SET state = :state WHERE id = :id',
  params: { id: 'text', state: 'text' },
})

async function databaseOfNode(
  { db, url }: TestDatabase,
  closers: (() => Promise<void>)[],
): Promise<Database> {
  if (db.backend !== 'postgres') return db
  const own = await openDatabase({
    url,
    config: { max_connections: 8 },
    clock: createSystemClock(),
    log: silentLog,
    randomness: randomBytes,
  })
  closers.unshift(() => own.close())
  return own
}

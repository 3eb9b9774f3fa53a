import type { OpenedDatabase } from '../database/migrations/schema-access.ts'
import { silentLog } from '../database/testing/silent-log.ts'
import { testVersion } from '../database/testing/template.ts'
import { checkNames, type Diagnosis, diagnose } from '../doctor/doctor.ts'
import { createSystemClock } from '../kernel/clock.ts'
import { createIds } from '../kernel/ids.ts'
import { deploymentChecks } from '../node/features/deployment-checks.ts'
import { testConfig } from './config.ts'

/** What the store of a test keeps at most; smaller than a configuration may be. */
export type StoreBounds = {
  historyLimit: number
  notificationsMax: number
  ledgerMax: number
  executesResets?: boolean
}

export const tightBounds: StoreBounds = { historyLimit: 3, notificationsMax: 2, ledgerMax: 3 }

export type Examination = {
  bounds?: StoreBounds
  only?: readonly string[]
  examplesMax?: number
  /** Text that no feature would run. It is run before, and undone behind the examination. */
  meddling?: readonly string[]
}

/** What the doctor says of a store. */
export async function examine(
  db: OpenedDatabase,
  { bounds = tightBounds, only, examplesMax = 10, meddling }: Examination = {},
): Promise<Diagnosis[]> {
  const checks = await checksWith(db, bounds)
  const look = (on: OpenedDatabase) =>
    diagnose({ db: on, version: testVersion, checks }, { only, examplesMax })
  return meddling === undefined ? look(db) : looked(db, meddling, look)
}

/** Looks at a store as a transaction sees it that meddles with it, and is undone. */
async function looked<T>(
  db: OpenedDatabase,
  texts: readonly string[],
  look: (on: OpenedDatabase) => Promise<T>,
): Promise<T> {
  const undone = new Error('undone')
  let found: { found: T } | undefined
  const meddled = db.schema.transaction(async (tx) => {
    for (const text of texts) await tx.ddl(text)
    const on: OpenedDatabase = {
      ...db,
      all: (statement, params) => tx.all(statement, params),
      get: (statement, params) => tx.get(statement, params),
      longRead: (body) => body(tx),
    }
    found = { found: await look(on) }
    throw undone
  })
  await meddled.catch((error: unknown) => {
    if (error !== undone) throw error
  })
  // The pragma outlives the transaction.
  if (db.backend !== 'postgres') {
    await db.schema.transaction((tx) => tx.ddl('PRAGMA ignore_check_constraints = OFF'))
  }
  if (found === undefined) throw new Error('nothing was found')
  return found.found
}

/** The names of all checks, in the order of the report. */
export async function namesOfChecks(db: OpenedDatabase): Promise<string[]> {
  return checkNames(await checksWith(db, tightBounds))
}

async function checksWith(db: OpenedDatabase, bounds: StoreBounds) {
  const { historyLimit, notificationsMax, ledgerMax, executesResets = false } = bounds
  const clock = createSystemClock()
  const bootId = 'bt1-doctor'
  const ids = createIds({ clock, nodeId: 'doctor', bootId })
  const base = await testConfig()
  const config = {
    ...base,
    chat: { ...base.chat, history_limit: historyLimit },
    notifications: { ...base.notifications, capacity: notificationsMax },
    wallet: { ...base.wallet, ledger_retention: ledgerMax },
    leaderboards: { ...base.leaderboards, execute_reset_schedules: executesResets },
  }
  return deploymentChecks({ db, clock, ids, log: silentLog, config, version: testVersion, bootId })
}

import type { OpenedDatabase } from '../database/schema-access.ts'
import { silentLog } from '../database/testing/silent-log.ts'
import { testVersion } from '../database/testing/template.ts'
import { checkNames, type Diagnosis, diagnose } from '../doctor/doctor.ts'
import { createSystemClock } from '../kernel/clock.ts'
import { createIds } from '../kernel/ids.ts'
import { deploymentChecks } from '../node/deployment-checks.ts'
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
}

/** What the doctor says of a store. */
export async function examine(
  db: OpenedDatabase,
  { bounds = tightBounds, only, examplesMax = 10 }: Examination = {},
): Promise<Diagnosis[]> {
  const checks = await checksWith(db, bounds)
  return diagnose({ db, version: testVersion, checks }, { only, examplesMax })
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

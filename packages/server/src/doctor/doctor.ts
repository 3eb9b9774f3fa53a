import { SchemaNotUsable } from '../database/migrations/migrate.ts'
import type { OpenedDatabase } from '../database/schema-access.ts'
import { accountsCheck } from './accounts.store.ts'
import { apiKeysCheck } from './api-keys.store.ts'
import { createBoardsCheck } from './boards.store.ts'
import { createChatCheck } from './chat.store.ts'
import type { Check, Finding } from './check.store.ts'
import { friendsCheck } from './friends.store.ts'
import { groupsCheck } from './groups.store.ts'
import { matchesCheck } from './matches.store.ts'
import { type AppliedMigrations, createSchemaCheck, migrationsOf } from './schema.store.ts'
import { createSequencesCheck } from './sequences.store.ts'
import { storageCheck } from './storage.store.ts'
import { tournamentsCheck } from './tournaments.store.ts'
import { walletCheck } from './wallet.store.ts'

/** The checks, in the order of the report. */
export const checkNames = [
  'wallet',
  'accounts',
  'groups',
  'friends',
  'boards',
  'tournaments',
  'chat',
  'storage',
  'sequences',
  'matches',
  'api_keys',
  'audit',
  'schema',
] as const
export type CheckName = (typeof checkNames)[number]

export type DoctorDeps = {
  db: OpenedDatabase
  /** The version of this binary. */
  version: string
  bounds: {
    historyLimit: number
    notificationsMax: number
    ledgerMax: number
    /** Whether the schedules of boards are executed; by default they are not. */
    executesResets?: boolean
  }
  /** The check of the audit chain, which is the audit trail's own. */
  audit: Check
}

export type Diagnosis = Finding & { name: CheckName; ok: boolean }

/** Runs the checks over one committed state of a store that may be in use meanwhile. */
export async function diagnose(
  deps: DoctorDeps,
  { only, examplesMax }: { only: readonly CheckName[]; examplesMax: number },
): Promise<Diagnosis[]> {
  const migrations = await migrationsOf(deps.db, deps.version)
  if (migrations.pending && only.some((name) => name !== 'schema')) {
    throw new SchemaNotUsable('migrations are pending, so only the check `schema` can run')
  }
  const checks = checksOf(deps, migrations)
  return deps.db.snapshot(async (state) => {
    const diagnoses: Diagnosis[] = []
    for (const name of only) {
      const finding = await checks[name].examine(state, examplesMax)
      diagnoses.push({ name, ok: finding.violations === 0, ...finding })
    }
    return diagnoses
  })
}

function checksOf(
  { db, bounds, audit }: DoctorDeps,
  migrations: AppliedMigrations,
): Record<CheckName, Check> {
  return {
    wallet: walletCheck,
    accounts: accountsCheck,
    groups: groupsCheck,
    friends: friendsCheck,
    boards: createBoardsCheck(bounds.executesResets ?? false),
    tournaments: tournamentsCheck,
    chat: createChatCheck(bounds.historyLimit),
    storage: storageCheck,
    sequences: createSequencesCheck({ backend: db.backend, ...bounds }),
    matches: matchesCheck,
    api_keys: apiKeysCheck,
    audit,
    schema: createSchemaCheck(migrations),
  }
}

import type { LoadedConfig } from '../../config/load.ts'
import { version } from '../../version.ts'
import type { Invocation } from '../arguments.ts'
import { backendOf, isAbsentFile, visitDatabase } from '../database-visit.ts'
import { exitCodes, printJson, printLines, type Terminal } from '../terminal.ts'

/** Applies what is pending, or with `--check` only lists it. */
export async function migrateDatabase(
  loaded: LoadedConfig,
  { json, switches }: Invocation,
  terminal: Terminal,
): Promise<number> {
  const { database } = loaded.config
  const checkOnly = switches.has('--check')
  const report = (outcome: Outcome): number => {
    if (json) printJson(terminal.stdout, outcome)
    else printLines(terminal.stdout, outcomeLines(outcome))
    return outcome.pending.length > 0 ? exitCodes.schemaNotUsable : exitCodes.ok
  }

  const { migrations } = await import('../../database/migrations/index.ts')
  if (backendOf(database.url) === 'in-memory') {
    return report({ schema_version: migrations.length, applied: [], pending: [] })
  }
  if (checkOnly && isAbsentFile(database.url, terminal.cwd)) {
    return report({ schema_version: 0, applied: [], pending: migrations.map(label) })
  }
  const { migrate, pendingMigrations } = await import('../../database/migrations/migrate.ts')
  const access = checkOnly ? 'read' : 'own'
  return visitDatabase(loaded, { terminal, access }, async ({ db, clock, log, bootId }) => {
    const before = await pendingMigrations(db, { version })
    const pending = before.pending.map(label)
    if (checkOnly) return report({ schema_version: before.applied, applied: [], pending })
    const backup = database.backup_before_migrate
    const after = await migrate(db, { version, clock, log, holder: bootId, backup })
    return report({ schema_version: after.applied, applied: pending, pending: [] })
  })
}

type Outcome = { schema_version: number; applied: readonly string[]; pending: readonly string[] }

function outcomeLines({ schema_version, applied, pending }: Outcome): string[] {
  const lines = [
    ...applied.map((migration) => `applied ${migration}`),
    ...pending.map((migration) => `pending ${migration}`),
  ]
  return [...lines, `schema version ${schema_version}, ${pending.length} pending`]
}

function label({ number, name }: { number: number; name: string }): string {
  return `${String(number).padStart(4, '0')}-${name}`
}

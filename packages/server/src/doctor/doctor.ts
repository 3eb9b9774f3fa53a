import type { Check, Finding } from '../database/checks/check.ts'
import { SchemaNotUsable } from '../database/migrations/migrate.ts'
import type { OpenedDatabase } from '../database/migrations/schema-access.ts'
import { createSchemaCheck, migrationsOf } from './schema.store.ts'

export type DoctorDeps = {
  db: OpenedDatabase
  /** The version of this binary. */
  version: string
  /** Those of the deployment, in the order of the report; the schema's comes last. */
  checks: readonly Check[]
}

export type Diagnosis = Finding & { name: string; ok: boolean }

const schemaName = 'schema'

/** The names of the checks, in the order of the report. */
export function checkNames(checks: readonly Check[]): string[] {
  return [...checks.map(({ name }) => name), schemaName]
}

type DiagnoseOptions = {
  /** Default: all of them. */
  only?: readonly string[] | undefined
  examplesMax: number
  /** Called before each check, with its place among them, because a large store takes a while. */
  onBegun?: (name: string, place: { number: number; of: number }) => void
  /** Called after each check. */
  onDiagnosed?: (diagnosis: Diagnosis) => void
}

/** Runs checks, all or those of `only`, over one committed state of a store that may be in use. */
export async function diagnose(
  { db, version, checks }: DoctorDeps,
  { only, examplesMax, onBegun, onDiagnosed }: DiagnoseOptions,
): Promise<Diagnosis[]> {
  const migrations = await migrationsOf(db, version)
  const chosen = [...checks, createSchemaCheck(migrations)].filter(
    ({ name }) => only === undefined || only.includes(name),
  )
  if (migrations.pending && chosen.some(({ name }) => name !== schemaName)) {
    throw new SchemaNotUsable('migrations are pending, so only the check `schema` can run')
  }
  return db.longRead(async (state) => {
    const diagnoses: Diagnosis[] = []
    for (const [at, { name, examine }] of chosen.entries()) {
      onBegun?.(name, { number: at + 1, of: chosen.length })
      const finding = await examine(state, examplesMax)
      const diagnosis = { name, ok: finding.violations === 0, ...finding }
      diagnoses.push(diagnosis)
      onDiagnosed?.(diagnosis)
    }
    return diagnoses
  })
}

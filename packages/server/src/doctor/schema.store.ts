import { type Check, defineCheck, rule } from '../database/checks/check.ts'
import { pendingMigrations, SchemaNotUsable } from '../database/migrations/migrate.ts'
import type { OpenedDatabase } from '../database/migrations/schema-access.ts'

const leases = defineCheck('schema', {
  tables: ['leases'],
  rules: [
    rule('schema.leases', {
      rule: 'a lease has a holder, a token and an end',
      text: `SELECT name AS id FROM leases
        WHERE holder = '' OR token < 1 OR expires_at_unix_ms < 0`,
    }),
  ],
})

export type AppliedMigrations = {
  applied: number
  /** Whether tables of this version may be missing. */
  pending: boolean
  broken: string[]
}

export function createSchemaCheck({ applied, broken }: AppliedMigrations): Check {
  return {
    name: 'schema',
    async examine(state, examplesMax) {
      const finding = await leases.examine(state, examplesMax)
      const rule = 'the migrations are those of this version'
      const examples = broken.map((id) => ({ rule, id }))
      return {
        rows: finding.rows + applied,
        violations: finding.violations + broken.length,
        examples: [...examples, ...finding.examples].slice(0, examplesMax),
      }
    },
  }
}

/** @param version The version of this binary, which knows the migrations that there should be. */
export async function migrationsOf(
  db: OpenedDatabase,
  version: string,
): Promise<AppliedMigrations> {
  try {
    const { applied, pending } = await pendingMigrations(db, { version })
    const broken = pending.map(({ number }) => `migration ${number} is pending`)
    return { applied, pending: pending.length > 0, broken }
  } catch (error) {
    if (!(error instanceof SchemaNotUsable)) throw error
    return { applied: 0, pending: false, broken: [error.message] }
  }
}

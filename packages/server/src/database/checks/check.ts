import type { Queries } from '../database.ts'
import { type Columns, type Row, type Statement, statement } from '../statement.ts'
import { type TableName, tables } from '../tables/index.ts'

/** One group of invariants; its name stands in `--only` and in the report. */
export type Check = {
  readonly name: string
  /** Looks at one committed state and changes nothing. */
  examine(state: Queries, examplesMax: number): Promise<Finding>
}

export type Finding = {
  /** Rows that were looked at. */
  rows: number
  violations: number
  /** Some of them. */
  examples: Example[]
}

/** Which rule is broken, and the id of what breaks it: never a value. */
export type Example = { rule: string; id: string }

/** A rule as a query for what breaks it. */
export type Rule<P extends Columns = Columns> = {
  readonly rule: string
  readonly broken: Statement<P & { limit: 'integer' }, { id: 'text'; violations: 'integer' }>
  readonly params: Row<P>
}

/**
 * Declares a rule. `text` selects one column, `id`, for everything that breaks it.
 *
 * @example
 * rule('groups.superadmin', {
 *   rule: 'a group has a superadmin',
 *   text: `SELECT CAST(g.id AS text) AS id FROM groups g WHERE ...`,
 * })
 */
export function rule<const P extends Columns = Record<never, never>>(
  name: string,
  { rule, text, params, values }: { rule: string; text: string; params?: P; values?: Row<P> },
): Rule<P> {
  const declared = params ?? ({} as P)
  const broken = statement({
    name: `doctor.${name}`,
    text: `SELECT v.id AS id, COUNT(*) OVER () AS violations
      FROM (${text}) AS v ORDER BY v.id LIMIT :limit`,
    params: { ...declared, limit: 'integer' },
    row: { id: 'text', violations: 'integer' },
  })
  return { rule, broken, params: values ?? ({} as Row<P>) }
}

/** Of a table whose number of rows is kept: the number is right. */
function totalRule(table: TableName) {
  return rule(`totals.${table}`, {
    rule: `the total is the number of ${table}`,
    text: `SELECT 'total of ${table}' AS id FROM (SELECT COUNT(*) AS counted FROM ${table}) AS c
      WHERE c.counted <> COALESCE((SELECT total FROM totals WHERE name = '${table}'), 0)`,
  })
}

const countedTables = new Set(tables.filter(({ counted }) => counted).map(({ name }) => name))

/**
 * Declares a check of the rows of `tables`, all of whose rules are queries. What the catalogue says
 * of the tables is added.
 */
export function defineCheck(
  name: string,
  { tables: ownTables, rules }: { tables: readonly TableName[]; rules: readonly Rule[] },
): Check {
  const allRules = [...rules, ...ownTables.filter((each) => countedTables.has(each)).map(totalRule)]
  const counts = ownTables.map((table) => `(SELECT COUNT(*) FROM ${table})`)
  const counted = statement({
    name: `doctor.${name}.rows`,
    text: `SELECT ${counts.join(' + ')} AS counted`,
    row: { counted: 'integer' },
  })
  return {
    name,
    async examine(state, examplesMax) {
      const rows = (await state.get(counted, {}))?.counted ?? 0
      const finding: Finding = { rows, violations: 0, examples: [] }
      for (const { rule, broken, params } of allRules) {
        // One row at least, because it carries the number of all.
        const found = await state.all(broken, { ...params, limit: Math.max(1, examplesMax) })
        finding.violations += found[0]?.violations ?? 0
        finding.examples.push(...found.map(({ id }) => ({ rule, id })))
      }
      finding.examples.splice(examplesMax)
      return finding
    },
  }
}

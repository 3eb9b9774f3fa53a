import { type Check, defineCheck, rule } from '../database/checks/check.ts'
import { sequencesOf } from '../database/checks/sequences.ts'
import { notificationTotalsRule } from '../database/checks/totals.ts'
import type { Backend } from '../database/database.ts'

export type Bounds = {
  backend: Backend
  /** `notifications.capacity` and `wallet.ledger_retention`. */
  notificationsMax: number
  ledgerMax: number
}

/**
 * Surplus rows go within seconds of the write that made them surplus, so those of the last minute
 * do not count.
 */
function boundOf(table: string, timeColumn: string, max: number) {
  return rule(`sequences.${table}-bound`, {
    rule: `${table} keeps to its bound`,
    text: `SELECT '${table}' AS id FROM (
        SELECT COUNT(*) AS kept FROM ${table} WHERE ${timeColumn} <= {{now}} - 60000) AS c
      WHERE c.kept > :max`,
    params: { max: 'integer' },
    values: { max },
  })
}

export function createSequencesCheck({ backend, notificationsMax, ledgerMax }: Bounds): Check {
  const bounds = defineCheck('sequences', {
    tables: ['notifications', 'wallet_ledger'],
    rules: [
      boundOf('notifications', 'created_at_unix_ms', notificationsMax),
      boundOf('wallet_ledger', 'time_unix_ms', ledgerMax),
      notificationTotalsRule,
    ],
  })
  return {
    name: bounds.name,
    async examine(state, examplesMax) {
      const finding = await bounds.examine(state, examplesMax)
      const sequences = await sequencesOf(state, backend)
      const broken = sequences.filter(
        ({ largest, issued }) => largest !== null && (issued === null || issued < largest),
      )
      const rule = 'a sequence is at or beyond the largest id of its table'
      const examples = broken.map(({ table }) => ({ rule, id: table }))
      return {
        rows: finding.rows + sequences.length,
        violations: finding.violations + broken.length,
        examples: [...finding.examples, ...examples].slice(0, examplesMax),
      }
    },
  }
}

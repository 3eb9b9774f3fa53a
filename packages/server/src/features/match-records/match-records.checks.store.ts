import { defineCheck, rule } from '../../database/checks/check.ts'

/** Matches end with the boot that they were played on, and say why they are over. */
export const matchesCheck = defineCheck('matches', {
  tables: ['match_records'],
  rules: [
    rule('matches.boot', {
      rule: 'no match of a boot that has ended is open',
      text: `SELECT m.match_id AS id FROM match_records m
        JOIN node_boots b ON b.boot_id = m.boot_id
        WHERE m.closed_at_unix_ms IS NULL AND b.ended_at_unix_ms IS NOT NULL`,
    }),
    rule('matches.reason', {
      rule: 'a closed match has a reason, an open one has none',
      text: `SELECT match_id AS id FROM match_records
        WHERE (closed_at_unix_ms IS NULL) <> (termination_reason IS NULL)`,
    }),
  ],
})

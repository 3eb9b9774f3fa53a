import { defineCheck, rule } from '../../database/checks/check.ts'
import { accountsTotalRule } from '../../database/checks/totals.ts'

/** An external id is a secret or an email address, so an identity is named by its account. */
export const accountsCheck = defineCheck('accounts', {
  tables: ['accounts', 'identities', 'sessions', 'account_last_seen'],
  rules: [
    rule('accounts.usernames', {
      rule: 'usernames are unique',
      text: 'SELECT MIN(id) AS id FROM accounts GROUP BY username HAVING COUNT(*) > 1',
    }),
    rule('accounts.identities', {
      rule: 'an identity belongs to an account',
      text: `SELECT i.provider || ' identity of ' || i.account_id AS id FROM identities i
        LEFT JOIN accounts a ON a.id = i.account_id WHERE a.id IS NULL`,
    }),
    rule('accounts.sessions', {
      rule: 'a session belongs to an account',
      text: `SELECT 'session ' || s.id AS id FROM sessions s
        LEFT JOIN accounts a ON a.id = s.account_id WHERE a.id IS NULL`,
    }),
    rule('accounts.tombstoned', {
      rule: 'a tombstoned account has no identity',
      text: `SELECT a.id AS id FROM accounts a WHERE a.state = 'tombstoned'
        AND EXISTS (SELECT 1 FROM identities i WHERE i.account_id = a.id)`,
    }),
    rule('accounts.live', {
      rule: 'a disabled or tombstoned account has no live session',
      text: `SELECT a.id AS id FROM accounts a WHERE a.state <> 'active'
        AND EXISTS (SELECT 1 FROM sessions s WHERE s.account_id = a.id
          AND s.revoked_at_unix_ms IS NULL AND s.refresh_expires_at_unix_ms > {{now}})`,
    }),
    rule('accounts.last-seen', {
      rule: 'last seen is kept of accounts that are not deleted',
      text: `SELECT k.account_id AS id FROM account_last_seen k
        LEFT JOIN accounts a ON a.id = k.account_id WHERE a.id IS NULL OR a.state = 'tombstoned'`,
    }),
    accountsTotalRule,
  ],
})

import { defineCheck, rule } from '../../database/checks/check.ts'

/** What an entry's balance was before it: that of the entry before, or what is carried over. */
const entries = `SELECT l.seq, l.user_id, l.currency, l.delta, l.balance_after,
    COALESCE(LAG(l.balance_after) OVER (PARTITION BY l.user_id, l.currency ORDER BY l.seq),
      c.carried, 0) AS previous
  FROM wallet_ledger l
  LEFT JOIN wallet_carried c ON c.user_id = l.user_id AND c.currency = l.currency`

const newest = `SELECT l.user_id, l.currency, l.balance_after FROM wallet_ledger l
  JOIN (SELECT MAX(seq) AS seq FROM wallet_ledger GROUP BY user_id, currency) n ON n.seq = l.seq`

/**
 * Balance = carried sum + kept deltas. That follows from one entry to the next, so nothing has to
 * be added up: a sum of tampered numbers could leave the 64 bits.
 */
export const walletCheck = defineCheck('wallet', {
  tables: ['wallet_balances', 'wallet_ledger', 'wallet_carried'],
  rules: [
    rule('wallet.negative', {
      rule: 'no balance is ever negative',
      text: `SELECT user_id || ' ' || currency AS id FROM wallet_balances WHERE balance < 0
        UNION ALL SELECT user_id || ' ' || currency FROM wallet_carried WHERE carried < 0
        UNION ALL SELECT 'entry ' || CAST(seq AS text) FROM wallet_ledger
          WHERE balance_after < 0`,
    }),
    rule('wallet.steps', {
      rule: 'an entry follows from the one before it',
      // Two numbers that are not negative have a difference within the 64 bits.
      text: `SELECT 'entry ' || CAST(e.seq AS text) AS id FROM (${entries}) AS e
        WHERE CASE WHEN e.previous >= 0 AND e.balance_after >= 0
          THEN e.delta <> e.balance_after - e.previous ELSE 1 = 0 END`,
    }),
    rule('wallet.newest', {
      rule: 'a balance is the one after its newest entry',
      text: `SELECT b.user_id || ' ' || b.currency AS id FROM wallet_balances b
        LEFT JOIN (${newest}) AS n ON n.user_id = b.user_id AND n.currency = b.currency
        LEFT JOIN wallet_carried c ON c.user_id = b.user_id AND c.currency = b.currency
        WHERE b.balance <> COALESCE(n.balance_after, c.carried, 0)`,
    }),
    rule('wallet.balance', {
      rule: 'what is in the ledger has a balance',
      text: `SELECT k.user_id || ' ' || k.currency AS id
        FROM (SELECT user_id, currency FROM wallet_ledger
          UNION SELECT user_id, currency FROM wallet_carried) AS k
        LEFT JOIN wallet_balances b ON b.user_id = k.user_id AND b.currency = k.currency
        WHERE b.user_id IS NULL`,
    }),
  ],
})

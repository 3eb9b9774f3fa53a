import { rule } from './check.ts'

/** Totals are kept beside the rows that they count, so that nothing has to count these. */

/** Accounts are counted some time after they came; those that are not are in no total. */
export const accountsTotalRule = rule('totals.accounts', {
  rule: 'the total is the number of accounts that were counted',
  text: `SELECT 'total of accounts' AS id
    FROM (SELECT COUNT(*) AS counted FROM accounts WHERE counted <> 0) AS c
    WHERE c.counted <>
      COALESCE((SELECT accounts FROM account_totals WHERE name = 'counted'), -1)`,
})

/** All notifications, the broadcasts among them, and those of each user. */
export const notificationTotalsRule = rule('totals.notifications', {
  rule: 'the totals are the numbers of notifications',
  text: `SELECT 'total of notifications: ' || n.audience || ' ' || n.user_id AS id FROM (
      SELECT audience, user_id, total AS counted FROM notification_totals
      UNION ALL SELECT 'all', '', -1 FROM notifications
      UNION ALL SELECT 'broadcast', '', -1 FROM notifications WHERE user_id IS NULL
      UNION ALL SELECT 'user', user_id, -1 FROM notifications WHERE user_id IS NOT NULL
    ) AS n GROUP BY n.audience, n.user_id HAVING SUM(n.counted) <> 0`,
})

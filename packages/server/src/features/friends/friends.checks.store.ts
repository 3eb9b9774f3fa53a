import { defineCheck, rule } from '../../database/checks/check.ts'

export const friendsCheck = defineCheck('friends', {
  tables: ['friend_edges'],
  rules: [
    rule('friends.self', {
      rule: 'nobody has a relation to oneself',
      text: 'SELECT user_id AS id FROM friend_edges WHERE user_id = other_id',
    }),
    rule('friends.pairs', {
      rule: 'both edges of a relation match; a block stands alone or against a block',
      text: `SELECT e.user_id || ' to ' || e.other_id AS id FROM friend_edges e
        LEFT JOIN friend_edges r ON r.user_id = e.other_id AND r.other_id = e.user_id
        WHERE e.user_id <> e.other_id AND COALESCE(r.state, 'none') NOT IN (
          CASE e.state WHEN 'friend' THEN 'friend' WHEN 'invited_sent' THEN 'invited_received'
            WHEN 'invited_received' THEN 'invited_sent' ELSE 'blocked' END,
          CASE e.state WHEN 'blocked' THEN 'none' ELSE e.state || ' alone' END)`,
    }),
  ],
})

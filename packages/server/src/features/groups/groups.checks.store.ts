import { defineCheck, rule } from '../../database/checks/check.ts'

const members = `SELECT group_id, COUNT(*) AS members,
    SUM(CASE WHEN role = 'superadmin' THEN 1 ELSE 0 END) AS superadmins
  FROM group_members GROUP BY group_id`

export const groupsCheck = defineCheck('groups', {
  tables: ['groups', 'group_members'],
  rules: [
    rule('groups.names', {
      rule: 'names are unique',
      text: `SELECT CAST(MIN(id) AS text) AS id FROM groups GROUP BY name HAVING COUNT(*) > 1`,
    }),
    rule('groups.member-count', {
      rule: 'member_count is the number of members',
      text: `SELECT CAST(g.id AS text) AS id FROM groups g
        LEFT JOIN (${members}) AS m ON m.group_id = g.id
        WHERE g.member_count <> COALESCE(m.members, 0)`,
    }),
    rule('groups.superadmin', {
      rule: 'a group has a superadmin',
      text: `SELECT CAST(g.id AS text) AS id FROM groups g
        LEFT JOIN (${members}) AS m ON m.group_id = g.id
        WHERE COALESCE(m.superadmins, 0) = 0`,
    }),
    rule('groups.max-size', {
      rule: 'a group has at most max_size members, or those it had when max_size fell',
      text: `SELECT CAST(g.id AS text) AS id FROM groups g
        JOIN (${members}) AS m ON m.group_id = g.id
        WHERE g.max_size > 0 AND m.members > g.max_size AND m.members > g.members_kept`,
    }),
  ],
})

import { ofOneUser } from '../../database/reads/of-one-user.ts'
import { statement } from '../../database/statement.ts'
import { notifications } from '../../database/tables/notifications.ts'
import { pick } from '../../database/tables/table.ts'
import { numberOf, type Stories } from '../feature.ts'

const sentTo = statement({
  name: 'notifications.sent-to',
  text: `SELECT n.id, n.subject, n.created_at_unix_ms, n.read_at_unix_ms FROM notifications n
    WHERE ${ofOneUser('n.user_id', { 'n.id': ':id' })}`,
  params: { user_id: 'text', id: 'integer', limit: 'integer' },
  row: pick(notifications, 'id', 'subject', 'created_at_unix_ms', 'read_at_unix_ms'),
})

/** Notifications for a user alone, by their ids. */
export const noticeStory: Stories['notice'] = {
  scope: 'notifications:read',
  async read(tx, { user_id, before, limit }) {
    const rows = await tx.all(sentTo, { user_id, id: numberOf(before), limit })
    return rows.map(({ id, subject, created_at_unix_ms, read_at_unix_ms }) => ({
      at_unix_ms: created_at_unix_ms,
      ref: String(id),
      text: read_at_unix_ms === null ? `${subject} (unread)` : subject,
    }))
  },
}

import type { Queries } from '../../database/database.ts'
import { batchStatement, type Row, statement } from '../../database/statement.ts'
import { notifications } from '../../database/tables/notifications.ts'
import { without } from '../../database/tables/table.ts'

const notificationRow = notifications.columns
export type NotificationRow = Row<typeof notificationRow>
const columns = Object.keys(notificationRow).join(', ')

const newColumns = without(notifications, 'id', 'read_at_unix_ms')
export type NewRow = Row<typeof newColumns>

/** The rows get their ids in the order of their positions. */
const insert = batchStatement({
  name: 'notifications.insert',
  text: `INSERT INTO notifications (${Object.keys(newColumns).join(', ')})
    SELECT ${Object.keys(newColumns)
      .map((name) => `r.${name}`)
      .join(', ')} FROM {{rows}} AS r
    ORDER BY r.position
    RETURNING id`,
  params: { ...newColumns, position: 'integer' },
  row: { id: 'integer' },
})

/** Ids between two bounds, both exclusive. */
const page = { after: 'integer', before: 'integer', limit: 'integer' } as const
export type Page = Row<typeof page>

const list = statement({
  name: 'notifications.list',
  text: `SELECT ${columns} FROM notifications WHERE id > :after AND id < :before
    ORDER BY id DESC LIMIT :limit`,
  params: page,
  row: notificationRow,
})

/**
 * The rows of a user as a range of the index that begins with users: otherwise PostgreSQL may
 * follow the ids of all, through those of everybody.
 */
const ofUser = `(user_id, id) > ({{unplanned :user_id}}, :after)
  AND (user_id, id) < ({{unplanned :user_id}}, :before)
  ORDER BY user_id DESC, id DESC LIMIT {{unplanned :limit}}`

/** Each half reads its own index from the newest on, and no further than the page. */
const listOfUser = statement({
  name: 'notifications.list-of-user',
  text: `SELECT ${columns} FROM (
      SELECT * FROM (SELECT ${columns} FROM notifications
        WHERE ${ofUser}) AS targeted
      UNION ALL
      SELECT * FROM (SELECT ${columns} FROM notifications
        WHERE user_id IS NULL AND id > :after AND id < :before
        ORDER BY id DESC LIMIT {{unplanned :limit}}) AS broadcasts
    ) AS visible ORDER BY id DESC LIMIT {{unplanned :limit}}`,
  params: { ...page, user_id: 'text' },
  row: notificationRow,
})

/** Targeted ones only: nobody marks a broadcast as read. */
const unread = statement({
  name: 'notifications.unread',
  text: `SELECT ${columns} FROM notifications
    WHERE read_at_unix_ms IS NULL AND ${ofUser}`,
  params: { ...page, user_id: 'text' },
  row: notificationRow,
})

/** The time of the first reading stays. */
const markRead = statement({
  name: 'notifications.mark-read',
  text: `UPDATE notifications SET read_at_unix_ms = COALESCE(read_at_unix_ms, :now_unix_ms)
    WHERE id = :id AND user_id = :user_id AND id > :after`,
  params: { id: 'integer', user_id: 'text', after: 'integer', now_unix_ms: 'integer' },
})

const remove = statement({
  name: 'notifications.delete',
  text: 'DELETE FROM notifications WHERE id = :id AND id > :after RETURNING user_id',
  params: { id: 'integer', after: 'integer' },
  row: { user_id: 'text?' },
})

const removeOldest = statement({
  name: 'notifications.remove-oldest',
  text: `DELETE FROM notifications
    WHERE id IN (SELECT id FROM notifications ORDER BY id LIMIT :rows)
    RETURNING user_id`,
  params: { rows: 'integer' },
  row: { user_id: 'text?' },
})

const newestSurplus = statement({
  name: 'notifications.newest-surplus',
  text: 'SELECT id FROM notifications ORDER BY id DESC LIMIT 1 OFFSET :capacity',
  params: { capacity: 'integer' },
  row: { id: 'integer' },
})

const countAfter = statement({
  name: 'notifications.count-after',
  text: `SELECT count(*) AS total FROM notifications
    WHERE id > :after AND (user_id = :user_id OR user_id IS NULL)`,
  params: { after: 'integer', user_id: 'text' },
  row: { total: 'integer' },
})

const lockTotal = statement({
  name: 'notifications.lock-total',
  text: `SELECT t.total FROM notification_totals t
    WHERE t.audience = 'all' AND t.user_id = '' {{for update of t}}`,
  row: { total: 'integer' },
})

const change = { audience: 'text', user_id: 'text', rows: 'integer' } as const

const countIn = batchStatement({
  name: 'notifications.count-in',
  text: `INSERT INTO notification_totals (audience, user_id, total)
    SELECT r.audience, r.user_id, r.rows FROM {{rows}} AS r
    WHERE true
    ON CONFLICT (audience, user_id)
      DO UPDATE SET total = notification_totals.total + excluded.total`,
  params: change,
})

const countOut = batchStatement({
  name: 'notifications.count-out',
  text: `UPDATE notification_totals
    SET total = notification_totals.total - r.rows FROM {{rows}} AS r
    WHERE notification_totals.audience = r.audience AND notification_totals.user_id = r.user_id`,
  params: change,
})

const forgetEmpty = batchStatement({
  name: 'notifications.forget-empty',
  text: `DELETE FROM notification_totals WHERE total = 0 AND audience = 'user'
    AND user_id IN (SELECT r.user_id FROM {{rows}} AS r)`,
  params: { user_id: 'text' },
})

const totals = statement({
  name: 'notifications.totals',
  text: `SELECT COALESCE(SUM(CASE WHEN audience = 'all' THEN total ELSE 0 END), 0) AS kept,
      COALESCE(SUM(CASE WHEN audience <> 'all' THEN total ELSE 0 END), 0) AS of_user
    FROM notification_totals
    WHERE (audience = 'all' AND user_id = '') OR (audience = 'broadcast' AND user_id = '')
      OR (audience = 'user' AND user_id = {{unplanned :user_id}})`,
  params: { user_id: 'text' },
  row: { kept: 'integer', of_user: 'integer' },
})

/** Queries about notifications and their number; every function takes the transaction first. */
export const notificationsStore = {
  /** Adds rows; answers their ids in their order. */
  async insert(tx: Queries, rows: readonly NewRow[]): Promise<number[]> {
    const added = await tx.each(
      insert,
      rows.map((row, position) => ({ ...row, position })),
    )
    if (added.length !== rows.length) throw new Error('not every new notification came back')
    return added.map(({ id }) => id).sort((a, b) => a - b)
  },
  list: (tx: Queries, user_id: string | undefined, page: Page) =>
    user_id === undefined ? tx.all(list, page) : tx.all(listOfUser, { ...page, user_id }),
  unread: (tx: Queries, of: Omit<Row<(typeof unread)['params']>, 'before'>) =>
    tx.all(unread, { ...of, before: Number.MAX_SAFE_INTEGER }),
  /** False when no such row is for this user. */
  markRead: async (tx: Queries, of: Row<(typeof markRead)['params']>) =>
    (await tx.run(markRead, of)) === 1,
  /** The row's recipient, or undefined when there is no such row with a larger id than `after`. */
  remove: (tx: Queries, row: { id: number; after: number }) => tx.get(remove, row),
  removeOldest: (tx: Queries, rows: number) => tx.all(removeOldest, { rows }),
  /** The newest id beyond the `capacity` newest, 0 when there is none. */
  newestSurplus: async (tx: Queries, capacity: number): Promise<number> =>
    (await tx.get(newestSurplus, { capacity }))?.id ?? 0,
  countAfter: async (tx: Queries, after: number, user_id: string): Promise<number> =>
    (await tx.get(countAfter, { after, user_id }))?.total ?? 0,
  /** How many rows there are; every other change of that number waits from here on. */
  lockTotal: async (tx: Queries): Promise<number> => (await tx.get(lockTotal, {}))?.total ?? 0,
  /** All rows there are, and those that the user may see. */
  totals: async (tx: Queries, user_id: string) =>
    (await tx.get(totals, { user_id })) ?? { kept: 0, of_user: 0 },
  countIn: (tx: Queries, recipients: readonly Recipient[]) =>
    tx.each(countIn, changesOf(recipients)),
  async countOut(tx: Queries, recipients: readonly Recipient[]): Promise<void> {
    const changes = changesOf(recipients)
    await tx.each(countOut, changes)
    const users = changes.filter(({ audience }) => audience === 'user')
    await tx.each(
      forgetEmpty,
      users.map(({ user_id }) => ({ user_id })),
    )
  },
}

/** Null is everybody. */
type Recipient = string | null

/** One row per total that changes: rows in all, broadcasts, and rows per user. */
function changesOf(recipients: readonly Recipient[]): Row<typeof change>[] {
  const perUser = new Map<string, number>()
  let broadcasts = 0
  for (const user of recipients) {
    if (user === null) broadcasts += 1
    else perUser.set(user, (perUser.get(user) ?? 0) + 1)
  }
  return [
    { audience: 'all', user_id: '', rows: recipients.length },
    { audience: 'broadcast', user_id: '', rows: broadcasts },
    ...Array.from(perUser, ([user_id, rows]) => ({ audience: 'user', user_id, rows })),
  ].filter(({ rows }) => rows > 0)
}

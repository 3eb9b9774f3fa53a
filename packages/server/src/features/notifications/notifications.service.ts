import type { JsonObject, notificationsApi } from '@guildhall/contract'
import type { z } from 'zod'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import type { Mutate, Mutation } from '../../kernel/mutation.ts'
import type { Transact } from '../../kernel/tasks/lease.ts'
import { type NotificationRow, notificationsStore } from './notifications.store.ts'

export type NotificationsDeps = {
  db: Database
  clock: Clock
  /** How many the deployment keeps. */
  capacity: number
  mutate: Mutate<Transaction>
}

type Query = z.output<(typeof notificationsApi)['list']['query']>
type NewNotification = z.output<(typeof notificationsApi)['send']['body']>

export type StoredNotification = {
  /** Null is everybody. */
  user_id: string | null
  subject: string
  content: JsonObject
  code: number
}

export type Notifications = ReturnType<typeof createNotifications>

/** A send makes room for itself, and for some of what a larger capacity may have left. */
const evictedPerSend = 16

/**
 * One ring of notifications for the whole deployment. The number of rows, in all and per user, is
 * kept in the transactions that add and remove them, so a list never counts. Changes of that number
 * wait for each other: ids become visible in their order.
 */
export function createNotifications(deps: NotificationsDeps) {
  const { db, clock, capacity, mutate } = deps

  /** The ids up to this one are evicted already; 0 unless the capacity was larger before. */
  async function evictedUpTo(tx: Queries, kept: number): Promise<number> {
    return kept <= capacity ? 0 : notificationsStore.newestSurplus(tx, capacity)
  }

  async function evict(tx: Transaction, kept: number, rowsMax: number): Promise<number> {
    const surplus = Math.min(kept - capacity, rowsMax)
    if (surplus <= 0) return 0
    const rows = await notificationsStore.removeOldest(tx, surplus)
    const recipients = rows.map(({ user_id }) => user_id)
    await notificationsStore.countOut(tx, recipients)
    return rows.length
  }

  /**
   * Stores notifications as part of a transaction, which must be `read committed`: from here on it
   * holds up every other change of the ring. Answers them in their order.
   */
  async function store(tx: Transaction, items: readonly StoredNotification[]) {
    const kept = await notificationsStore.lockTotal(tx)
    const created_at_unix_ms = clock.nowUnixMs()
    const rows = items.map((item) => ({ ...item, created_at_unix_ms }))
    const ids = await notificationsStore.insert(tx, rows)
    await notificationsStore.countIn(
      tx,
      items.map(({ user_id }) => user_id),
    )
    await evict(tx, kept + items.length, items.length + evictedPerSend)
    return items.map((item, at) => {
      const row = { ...item, id: ids[at] ?? 0, created_at_unix_ms }
      return { ...row, read_at_unix_ms: null, read: false }
    })
  }

  async function evictedNow(): Promise<number> {
    return evictedUpTo(db, (await notificationsStore.totals(db, '')).kept)
  }

  async function totalOf(user_id: string | undefined, after: number, counted: Counted) {
    if (user_id === undefined) return Math.min(counted.kept, capacity)
    return after === 0 ? counted.of_user : notificationsStore.countAfter(db, after, user_id)
  }

  return {
    async list({ user_id, limit, before = Number.MAX_SAFE_INTEGER }: Query) {
      const counted = await notificationsStore.totals(db, user_id ?? '')
      const after = await evictedUpTo(db, counted.kept)
      const [rows, total] = await Promise.all([
        notificationsStore.list(db, user_id, { after, before, limit }),
        totalOf(user_id, after, counted),
      ])
      return { items: rows.map(shown), total }
    },

    /** What a user sees: what was sent to it or to everybody, newest first. */
    async visibleTo(user_id: string, { limit, before = Number.MAX_SAFE_INTEGER }: VisiblePage) {
      const page = { after: await evictedNow(), before, limit }
      return (await notificationsStore.list(db, user_id, page)).map(shown)
    },

    /** The newest that were sent to a user and are not read yet, oldest first. */
    async unreadOf(user_id: string, limit: number) {
      const of = { user_id, after: await evictedNow(), limit }
      return (await notificationsStore.unread(db, of)).reverse().map(shown)
    },

    /** False for what was not sent to this user alone. The time of the first reading stays. */
    async markRead(mutation: Mutation, { id, user_id }: { id: number; user_id: string }) {
      const after = await evictedNow()
      return mutate(
        mutation,
        async (tx) => {
          const change = { id, user_id, after, now_unix_ms: clock.nowUnixMs() }
          const answer = await notificationsStore.markRead(tx, change)
          return { answer, target: String(id), details: `read=${answer}` }
        },
        { isolation: 'read committed' },
      )
    },

    /** Sends one, as a transaction of its own. */
    async send(mutation: Mutation, { subject, content = {}, code = 0, user_id }: NewNotification) {
      const item = { user_id: user_id ?? null, subject, content, code }
      return mutate(
        mutation,
        async (tx) => {
          const [answer] = await store(tx, [item])
          if (answer === undefined) throw new Error('the new notification did not come back')
          return {
            answer,
            target: item.user_id === null ? 'broadcast' : `user ${item.user_id}`,
            details: `id=${answer.id} code=${code}`,
          }
        },
        { isolation: 'read committed' },
      )
    },

    store,

    async delete(mutation: Mutation, id: number) {
      return mutate(
        mutation,
        async (tx) => {
          const kept = await notificationsStore.lockTotal(tx)
          const after = await evictedUpTo(tx, kept)
          const removed = await notificationsStore.remove(tx, { id, after })
          if (removed === undefined) throw refuse.notFound('no such notification')
          await notificationsStore.countOut(tx, [removed.user_id])
          return { answer: undefined, target: String(id), details: 'deleted' }
        },
        { isolation: 'read committed' },
      )
    },

    /** Removes up to `batchItems` rows that a larger capacity has left; answers how many. */
    prune: (batchItems: number, transact: Transact<Transaction> = db.transaction) =>
      transact(async (tx) => evict(tx, await notificationsStore.lockTotal(tx), batchItems), {
        isolation: 'read committed',
      }),
  }
}

type Counted = { kept: number; of_user: number }
type VisiblePage = { limit: number; before?: number | undefined }

function shown(row: NotificationRow) {
  return { ...row, read: row.read_at_unix_ms !== null }
}

import { Notification } from '@guildhall/contract'
import type { Queries } from '../../../database/database.ts'
import { statement } from '../../../database/statement.ts'
import {
  expectSame,
  expectThat,
  type Operation,
  operation,
  type Section,
  succeeded,
} from '../operation.ts'
import type { Random } from '../random.ts'
import { createSerials } from './serials.ts'
import type { Entry, Trail } from './trail.ts'

type Deps = { trail: Trail; random: Random; mark(kind: string): string; capacity: number }

/** A notification by its subject, which is a mark of its own. */
type Sent = { id: number; subject: string; user_id: string | null; deleted: boolean; busy: boolean }

const recipients = [null, 'ana', 'bo', 'cy']

/** Sends into the ring, which evicts the oldest, and deletions. */
export function createNotificationsSection({ trail, random, mark, capacity }: Deps): Section {
  const sent = new Map<string, Sent>()
  const serials = createSerials('the notification id')
  let kept: StoredNotification[] = []
  let totals: StoredTotal[] = []

  function next(): Operation | undefined {
    if (random.chance(0.7)) return send(random.pick(recipients) ?? null)
    const newest = [...sent.values()].slice(-capacity)
    const one = random.pick(newest.filter(({ busy, deleted }) => !busy && !deleted))
    return one && remove(one)
  }

  function send(user_id: string | null): Operation {
    const subject = mark('subject')
    return operation<{ id: number }>({
      request: {
        method: 'POST',
        path: '/console/v1/notifications',
        body: { user_id, subject, content: { subject }, code: 7 },
      },
      heard: (answer) => (succeeded(answer, 201) ? Notification().parse(answer.body) : undefined),
      found: () => kept.find((row) => row.subject === subject),
      apply({ id }) {
        serials.note(id, subject)
        sent.set(subject, { id, subject, user_id, deleted: false, busy: false })
        const target = user_id === null ? 'broadcast' : `user ${user_id}`
        trail.expect({ action: 'notifications.send', target, details: `id=${id} code=7` })
      },
    })
  }

  function remove(one: Sent): Operation {
    const entry: Entry = {
      action: 'notifications.delete',
      target: String(one.id),
      details: 'deleted',
    }
    one.busy = true
    return operation<object>({
      request: { method: 'DELETE', path: `/console/v1/notifications/${one.id}` },
      // The ring may have evicted it.
      heard: (answer) => (succeeded(answer, 204, [404]) ? {} : undefined),
      found: () => (trail.has(entry) ? {} : undefined),
      apply() {
        one.deleted = true
        trail.expect(entry)
      },
      release() {
        one.busy = false
      },
    })
  }

  return {
    weight: 4,
    next,
    async read(state: Queries) {
      kept = await state.all(notificationRows, {})
      totals = await state.all(totalRows, {})
    },
    check() {
      checkRing(kept, [...sent.values()], capacity)
      checkTotals(kept, totals)
      serials.restarted()
    },
  }
}

/** Evicted is what is older than everything kept; of the rest nothing is missing or different. */
function checkRing(kept: readonly StoredNotification[], sent: readonly Sent[], capacity: number) {
  const oldest = kept[0]?.id ?? 0
  const noted = sent
    .filter(({ id, deleted }) => !deleted && id >= oldest)
    .map(({ id, user_id, subject }) => ({ id, user_id, subject }))
    .sort((a, b) => a.id - b.id)
  expectSame(kept, noted, 'the notifications')
  expectThat(kept.length <= capacity, `the ring holds ${kept.length} notifications`)
  const deletions = sent.filter(({ deleted }) => deleted).length
  const atLeast = Math.min(sent.length, capacity) - deletions
  expectThat(kept.length >= atLeast, `the ring holds only ${kept.length} notifications`)
}

function checkTotals(kept: readonly StoredNotification[], totals: readonly StoredTotal[]): void {
  for (const { audience, user_id, total } of totals) {
    const counted = kept.filter((row) => {
      if (audience === 'all') return true
      return audience === 'broadcast' ? row.user_id === null : row.user_id === user_id
    })
    expectSame(total, counted.length, `the number of notifications for ${audience} ${user_id}`)
  }
}

type StoredNotification = Pick<Sent, 'id' | 'user_id' | 'subject'>
type StoredTotal = { audience: string; user_id: string; total: number }

const notificationRows = statement({
  name: 'crash.notifications',
  text: 'SELECT id, user_id, subject FROM notifications ORDER BY id',
  row: { id: 'integer', user_id: 'text?', subject: 'text' },
})

const totalRows = statement({
  name: 'crash.notification-totals',
  text: 'SELECT audience, user_id, total FROM notification_totals',
  row: { audience: 'text', user_id: 'text', total: 'integer' },
})

import { kinds, type NotificationPush, stringifyExact } from '@guildhall/contract'
import type { LivePlayers } from '../../kernel/play/delivery.ts'

const kind = kinds.NOTIFICATION.first

/** A stored notification, as far as players see it. */
export type PushedRow = Omit<NotificationPush, 'type'> & { user_id: string | null }

export type NotificationPushes = ReturnType<typeof createPushes>

/** Stored notifications on the connections of players, on kind 27. */
export function createPushes(players: LivePlayers) {
  return {
    /** To these accounts, else to the one that the row is for, else to all. */
    push(row: PushedRow, userIds?: readonly string[]): void {
      const receivers = userIds ?? (row.user_id === null ? null : [row.user_id])
      players.push(receivers, kind, bodyOf(row))
    },
    /** To one participant, in this order. */
    pushTo(participant: number, rows: readonly PushedRow[]): void {
      for (const row of rows) {
        const body = bodyOf(row)
        players.send({ kind, body, unreliable: false, participants: [participant] })
      }
    },
    /** Null for a guest, and for a participant that is not here. */
    accountOf: players.accountOf,
  }
}

function bodyOf({ id, code, subject, content, created_at_unix_ms, ...row }: PushedRow): Uint8Array {
  const { read_at_unix_ms } = row
  const said = { id, code, subject, content, created_at_unix_ms, read_at_unix_ms }
  const push: NotificationPush = { type: 'notification', ...said }
  return Buffer.from(stringifyExact(push))
}

import type { JsonObject } from '@guildhall/contract'
import type { Transaction } from '../../../database/database.ts'
import { settlementStore } from './settlement.store.ts'

/** The event that stands for the notifications of some ranks of one tournament. */
export const resultNotices = 'tournament_notices'

/** Ranks of one event: its notifications are written in one transaction. */
const ranksPerNotice = 100

/** A notification that is stored for one user. */
export type Notice = { user_id: string; subject: string; code: number; content: JsonObject }

export type NoticesDeps = {
  /** Stores notifications as part of the transaction. */
  notify(tx: Transaction, notices: readonly Notice[]): Promise<unknown>
}

/** The events for the ranks 1 to `ranks` of a tournament. */
export function noticesOf(tournament_id: string, ranks: number) {
  return Array.from({ length: Math.ceil(ranks / ranksPerNotice) }, (_, index) => {
    const from_rank = index * ranksPerNotice + 1
    const to_rank = Math.min(ranks, from_rank + ranksPerNotice - 1)
    const range: Range = { tournament_id, from_rank, to_rank }
    return { kind: resultNotices, payload: JSON.stringify(range) }
  })
}

type Range = { tournament_id: string; from_rank: number; to_rank: number }

/** Notifies those of the ranks of an event; the results themselves never change. */
export function createNoticeWriter({ notify }: NoticesDeps) {
  return async (tx: Transaction, payload: string): Promise<void> => {
    const { tournament_id, from_rank, to_rank } = rangeOf(payload)
    const rows = await settlementStore.ranks(tx, { tournament_id, from_rank, to_rank })
    await notify(
      tx,
      rows.map(({ user_id, ...result }) => ({
        user_id,
        subject: 'Tournament finished',
        code: 0,
        content: { tournament_id, ...result },
      })),
    )
  }
}

/** The payload is what `noticesOf` wrote. */
function rangeOf(payload: string): Range {
  return JSON.parse(payload) as Range
}

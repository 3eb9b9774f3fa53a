import type { Transaction } from '../../../database/database.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { noticesOf } from './notices.ts'
import { settlementStore } from './settlement.store.ts'
import { type BoardPeriod, snapshotStore } from './snapshot.store.ts'

export type SettlementRulesDeps = {
  clock: Clock
  config: { notify_results: boolean; notify_max: number }
  /** Leaves what is to be delivered once the transaction is committed. */
  leave(tx: Transaction, events: readonly { kind: string; payload: string }[]): Promise<void>
}

export type SettlementRules = ReturnType<typeof createSettlementRules>

/** The event that scripts receive; its payload is what their handler is called with. */
export const tournamentCompleted = 'on_tournament_completed'

/**
 * The two steps in which a tournament ends, each within a transaction of its caller. Both begin
 * with a compare-and-set on the state, so that the second to come does nothing. Transactions are
 * `read committed`: the changed row stays locked, and nothing is decided on other rows.
 */
export function createSettlementRules(deps: SettlementRulesDeps) {
  const { clock, config, leave } = deps
  const now = () => clock.nowUnixMs()

  async function takeSnapshot(tx: Transaction, id: string, period: BoardPeriod | undefined) {
    const records = period === undefined ? 0 : await snapshotStore.take(tx, id, period.period)
    await settlementStore.noteSnapshot(tx, { id, sort: period?.sort ?? null, records })
  }

  return {
    /** running -> finalizing at the end: false when somebody else has, or will at a reset. */
    async finalizeAtEnd(tx: Transaction, id: string): Promise<boolean> {
      const row = await settlementStore.finalize(tx, { id, now_unix_ms: now() })
      if (row === undefined) return false
      await takeSnapshot(tx, id, await snapshotStore.livePeriod(tx, row.leaderboard_id))
      return true
    },

    /**
     * running -> finalizing for all tournaments of a board that is reset, within the transaction of
     * the reset. `period` is the one that the reset closes, by its number; its records are ranked.
     */
    async finalizeForReset(
      tx: Transaction,
      reset: { leaderboard_id: string; due_at_unix_ms: number } & BoardPeriod,
    ): Promise<void> {
      const { leaderboard_id, due_at_unix_ms, ...period } = reset
      const change = { leaderboard_id, due_at_unix_ms, now_unix_ms: now() }
      for (const { id } of await settlementStore.finalizeBoard(tx, change)) {
        await takeSnapshot(tx, id, period)
      }
    },

    /** finalizing -> completed; undefined when the tournament is completed already. */
    async complete(tx: Transaction, id: string): Promise<number | undefined> {
      const row = await settlementStore.complete(tx, { id, now_unix_ms: now() })
      if (row === undefined) return undefined
      const { leaderboard_id, settled_sort } = row
      const total = settled_sort === null ? 0 : await settlementStore.rank(tx, id, settled_sort)
      await settlementStore.dropSnapshot(tx, id)
      const event = { tournament_id: id, leaderboard_id, results_total: total }
      const notified = config.notify_results ? Math.min(total, config.notify_max) : 0
      await leave(tx, [
        ...noticesOf(id, notified),
        { kind: tournamentCompleted, payload: JSON.stringify(event) },
      ])
      return total
    },
  }
}

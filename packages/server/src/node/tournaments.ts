import { tournamentsApi } from '@guildhall/contract'
import type { Transaction } from '../database/database.ts'
import { createCourier } from '../features/outbox/outbox.courier.ts'
import { createOutbox } from '../features/outbox/outbox.service.ts'
import { createSettlement } from '../features/tournaments/tournaments.jobs.ts'
import {
  createNoticeWriter,
  type Notice,
  resultNotices,
} from '../features/tournaments/tournaments.notices.ts'
import { createRegistration } from '../features/tournaments/tournaments.registration.ts'
import { tournamentHandlers } from '../features/tournaments/tournaments.routes.ts'
import { createTournaments } from '../features/tournaments/tournaments.service.ts'
import {
  createSettlementRules,
  tournamentCompleted,
} from '../features/tournaments/tournaments.settlement.ts'
import { bindHandlers } from '../kernel/http/exchange.ts'
import type { Lease } from '../kernel/tasks/lease.ts'
import type { EventHook } from '../script/hooks.ts'
import type { Shared } from './shared.ts'
import type { Trail } from './trail.ts'

export type TournamentParts = ReturnType<typeof createTournamentParts>

type Parts = {
  trail: Trail
  accountState(tx: Transaction, id: string): Promise<string | undefined>
  /** Stores notifications as part of a transaction. */
  notify(tx: Transaction, notices: readonly Notice[]): Promise<void>
}

/** A reset of a board, as the tournaments on it and scripts hear of it. */
type ClosedPeriod = { leaderboard_id: string; period: number; sort: string; due_at_unix_ms: number }

/** The script of this node, as far as events are told to it. */
type ScriptEvents = { ready(): boolean; tell(hook: EventHook, event: string): Promise<void> }

const boardReset = 'on_leaderboard_reset'
/** Events of one kind that are under way at the same time. */
const hookSlots = 16
const noticeSlots = 2

/** Tournaments with their settlement, and the outbox that tells of what became of them. */
export function createTournamentParts(shared: Shared, { trail, accountState, notify }: Parts) {
  const { db, clock, clockWatch, log, config } = shared
  const { onHold } = clockWatch
  const outbox = createOutbox({ db, clock, log: log.component('outbox') })
  const settings = { clock, config: config.tournaments, leave: outbox.add }
  const rules = createSettlementRules(settings)
  const tournaments = createTournaments({ db, clock, mutate: trail.mutate })
  const { register } = createRegistration({ db, clock, accountState })

  const hookConsumer = (kind: EventHook, script: ScriptEvents) => {
    const outside = (payload: string) => script.tell(kind, payload)
    return { kind, slots: hookSlots, ready: script.ready, outside }
  }

  return {
    section: {
      routes: bindHandlers(tournamentsApi, tournamentHandlers(tournaments)),
      pruners: outbox.pruners,
    },
    tournaments,
    register,
    outboxDropped: outbox.dropped,
    /** What else belongs to the transaction that resets a board. */
    async periodClosed(tx: Transaction, closed: ClosedPeriod): Promise<void> {
      const { leaderboard_id, period, sort, due_at_unix_ms } = closed
      await rules.finalizeForReset(tx, { leaderboard_id, due_at_unix_ms, period, sort })
      // Periods only ever count up, so a later reset of the board has the larger number.
      const event = { leaderboard_id, due_at_unix_ms, fencing_token: period }
      await outbox.add(tx, [{ kind: boardReset, payload: JSON.stringify(event) }])
    },
    settlementOf: (lease: Lease<Transaction>) =>
      createSettlement({ db, clock, log: log.component('settlement'), lease, rules, onHold }),
    courierOf: (script: ScriptEvents) =>
      createCourier({
        db,
        clock,
        log: log.component('outbox'),
        consumers: [
          { kind: resultNotices, slots: noticeSlots, within: createNoticeWriter({ notify }) },
          hookConsumer(tournamentCompleted, script),
          hookConsumer(boardReset, script),
        ],
      }),
  }
}

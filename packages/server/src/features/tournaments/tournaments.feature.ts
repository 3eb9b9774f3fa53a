import type { Database, Transaction } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { Mutate } from '../../kernel/mutation.ts'
import type { Lease } from '../../kernel/tasks/lease.ts'
import { defineFeature, type FeatureTask, mount } from '../feature.ts'
import { createNoticeWriter, type NoticesDeps, resultNotices } from './settlement/notices.ts'
import {
  createSettlement,
  type Settlement,
  settlementIntervalMs,
} from './settlement/settlement.jobs.ts'
import {
  createSettlementRules,
  type SettlementRulesDeps,
  tournamentCompleted,
} from './settlement/settlement.ts'
import { tournamentsCheck } from './tournaments.checks.store.ts'
import { createRegistration, type RegistrationDeps } from './tournaments.registration.ts'
import { tournamentHandlers } from './tournaments.routes.ts'
import { tournamentFunctions } from './tournaments.script.ts'
import { createTournaments } from './tournaments.service.ts'
import { tournamentStory } from './tournaments.story.store.ts'

type TournamentsFeatureDeps = {
  db: Database
  clock: Clock
  log: Log
  mutate: Mutate<Transaction>
  /** Whether no tournament may be ended, because the clock may be wrong. */
  onHold(): boolean
  /** One node of a deployment settles; absent on one that may not. */
  jobLease(name: string): Lease<Transaction> | undefined
  config: { tournaments: SettlementRulesDeps['config'] }
  accounts: { stateOf: RegistrationDeps['accountState'] }
  outbox: { add: SettlementRulesDeps['leave'] }
  notifications: { store: NoticesDeps['notify'] }
}

/** A reset of a board, as tournaments and scripts receive it. */
type ClosedPeriod = { leaderboard_id: string; period: number; sort: string; due_at_unix_ms: number }

/** The event of a reset; its payload is what the script's handler is called with. */
const boardReset = 'on_leaderboard_reset'

/** Events of results that are under way at the same time. */
const noticeSlots = 2

const crashTests = { not: 'settlement/processes.test.ts kills nodes while they settle' }

/** Tournaments on boards, and their settlement. */
export function tournamentsFeature(deps: TournamentsFeatureDeps) {
  const { config, accounts, outbox, notifications } = deps
  const rules = createSettlementRules({ ...deps, config: config.tournaments, leave: outbox.add })
  const tournaments = createTournaments(deps)
  const { register } = createRegistration({ ...deps, accountState: accounts.stateOf })
  const ownLease = deps.jobLease('settlement')
  const settlementOf = (lease: Lease<Transaction>) =>
    createSettlement({ ...deps, log: deps.log.component('settlement'), lease, rules })
  return defineFeature(
    {
      routes: mount({ tournaments: tournamentHandlers(tournaments) }),
      script: tournamentFunctions({ tournaments, register }),
      checks: [tournamentsCheck],
      stories: { tournament: tournamentStory },
      crash: {
        tournaments: crashTests,
        tournament_entries: crashTests,
        tournament_snapshots: crashTests,
        tournament_results: crashTests,
      },
      events: [
        {
          kind: resultNotices,
          slots: noticeSlots,
          within: createNoticeWriter({ notify: notifications.store }),
        },
        { hook: tournamentCompleted },
        { hook: boardReset },
      ],
      ...(ownLease && settling(settlementOf(ownLease))),
    },
    {
      register,
      settlementOf,
      /** What else belongs to the transaction that resets a board. */
      async periodClosed(tx: Transaction, closed: ClosedPeriod): Promise<void> {
        const { leaderboard_id, period, sort, due_at_unix_ms } = closed
        await rules.finalizeForReset(tx, { leaderboard_id, due_at_unix_ms, period, sort })
        // Periods only ever count up, so a later reset of the board has the larger number.
        const event = { leaderboard_id, due_at_unix_ms, fencing_token: period }
        await outbox.add(tx, [{ kind: boardReset, payload: JSON.stringify(event) }])
      },
    },
  )
}

function settling(settlement: Settlement) {
  const task: FeatureTask = {
    name: 'settlement',
    intervalMs: settlementIntervalMs,
    run: settlement.settle,
    items: settlement,
    needsDatabase: true,
  }
  return {
    tasks: [task],
    catchUp: (signal: AbortSignal) => settlement.settle({ signal, progress: () => undefined }),
  }
}

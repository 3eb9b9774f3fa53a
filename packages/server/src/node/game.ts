import { leaderboardsApi, purchasesApi, subscriptionsApi } from '@guildhall/contract'
import { createLeaderboardPruners } from '../features/leaderboards/leaderboards.jobs.ts'
import { createResets, type Resets } from '../features/leaderboards/leaderboards.resets.ts'
import { leaderboardHandlers } from '../features/leaderboards/leaderboards.routes.ts'
import { createLeaderboards } from '../features/leaderboards/leaderboards.service.ts'
import { purchaseHandlers, subscriptionHandlers } from '../features/purchases/purchases.routes.ts'
import { createPurchases } from '../features/purchases/purchases.service.ts'
import { createCustomValidator } from '../features/purchases/purchases.validator.ts'
import { bindHandlers } from '../kernel/http/exchange.ts'
import type { People } from './people.ts'
import type { Players } from './players.ts'
import { joinSections, type Section } from './sections.ts'
import type { Shared } from './shared.ts'
import { createStorageParts } from './storage.ts'
import { createTournamentParts } from './tournaments.ts'
import type { Trail } from './trail.ts'

type Parts = { trail: Trail; players: Players; people: People }

/** The console's sections about game data; each is built on its own and knows no other. */
export function createGame(shared: Shared, { trail, players, people }: Parts) {
  const tournaments = createTournamentParts(shared, {
    trail,
    accountState: players.accounts.stateOf,
    notify: async (tx, items) => void (await people.storeNotifications(tx, items)),
  })
  const resets = createResets({
    db: shared.db,
    log: shared.log.component('leaderboards'),
    execute: shared.config.leaderboards.execute_reset_schedules,
    onHold: shared.clockWatch.onHold,
    periodClosed: tournaments.periodClosed,
  })
  const storage = createStorageParts(shared, trail)
  const sections: Section[] = [
    storage.section,
    purchaseSection(shared, trail),
    leaderboardSection(shared, trail, resets),
    tournaments.section,
  ]
  return {
    storage,
    tournaments,
    resets,
    ...joinSections(sections),
  }
}

/** Purchases and the subscriptions among them. */
function purchaseSection({ db, clock, config }: Shared, { mutate }: Trail): Section {
  const validate = createCustomValidator(config.purchases.max_receipt_bytes)
  const purchases = createPurchases({ db, clock, mutate, validate })
  return {
    routes: [
      ...bindHandlers(purchasesApi, purchaseHandlers(purchases)),
      ...bindHandlers(subscriptionsApi, subscriptionHandlers(purchases)),
    ],
    pruners: {},
  }
}

/** Boards and their records; the scheduler resets them. */
function leaderboardSection(
  { db, clock, config }: Shared,
  { mutate, mutateMany }: Trail,
  { cursorAfter, resetDue, execute, onHold }: Resets,
): Section {
  const boards = createLeaderboards({
    db,
    clock,
    mutate,
    mutateMany,
    cursorAfter,
    resetDue,
    mayReset: () => execute && !onHold(),
  })
  const pruners = createLeaderboardPruners({ db, config: config.leaderboards })
  return {
    routes: bindHandlers(leaderboardsApi, leaderboardHandlers(boards)),
    pruners: { leaderboard_periods: pruners.periods },
  }
}

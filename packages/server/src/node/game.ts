import { purchasesApi, subscriptionsApi, tournamentsApi } from '@guildhall/contract'
import type { Transaction } from '../database/database.ts'
import { purchaseHandlers, subscriptionHandlers } from '../features/purchases/purchases.routes.ts'
import { createPurchases } from '../features/purchases/purchases.service.ts'
import { createCustomValidator } from '../features/purchases/purchases.validator.ts'
import { tournamentHandlers } from '../features/tournaments/tournaments.routes.ts'
import { createTournaments } from '../features/tournaments/tournaments.service.ts'
import { bindHandlers, type MountedRoute } from '../kernel/http/exchange.ts'
import type { PruneBatch } from '../kernel/retention.ts'
import type { Shared } from './shared.ts'
import type { Trail } from './trail.ts'

/** What one console section brings to the node. */
type Section = { routes: MountedRoute[]; pruners: Record<string, PruneBatch<Transaction>> }

/** The console's sections about game data; each is built on its own and knows no other. */
export function createGame(shared: Shared, trail: Trail) {
  const sections: Section[] = [purchaseSection(shared, trail), tournamentSection(shared, trail)]
  return {
    routes: sections.flatMap(({ routes }) => routes),
    pruners: Object.assign({}, ...sections.map(({ pruners }) => pruners)) as Section['pruners'],
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

/** Tournaments as operators run them. */
function tournamentSection({ db, clock }: Shared, { mutate }: Trail): Section {
  const tournaments = createTournaments({ db, clock, mutate })
  return { routes: bindHandlers(tournamentsApi, tournamentHandlers(tournaments)), pruners: {} }
}

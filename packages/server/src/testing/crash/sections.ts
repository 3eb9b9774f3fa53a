import { createAccountsSection } from './accounts.ts'
import { createApiKeysSection } from './api-keys.ts'
import { createChatSection } from './chat.ts'
import { createFriendsSection } from './friends.ts'
import { createGroupsSection } from './groups.ts'
import { createLeaderboardsSection } from './leaderboards.ts'
import { createNotificationsSection } from './notifications.ts'
import type { Section } from './operation.ts'
import { createPeople } from './people.ts'
import { createPlayersSection } from './players.ts'
import { createPurchasesSection } from './purchases.ts'
import type { Random } from './random.ts'
import { createStorageSection } from './storage.ts'
import type { Trail } from './trail.ts'
import { createWalletsSection } from './wallets.ts'

/** So small that every ring and every retention evicts within a round. */
const bounds = { historyLimit: 60, capacity: 80, ledgerRetention: 300 }

/** The configuration under which the sections are right. */
export const sectionKeys: Readonly<Record<string, string>> = {
  'chat.history_limit': String(bounds.historyLimit),
  'notifications.capacity': String(bounds.capacity),
  'wallet.ledger_retention': String(bounds.ledgerRetention),
}

/** The same bounds as the doctor wants them. */
export const doctorBounds = {
  historyLimit: bounds.historyLimit,
  notificationsMax: bounds.capacity,
  ledgerMax: bounds.ledgerRetention,
}

/** Every part of the product that the load changes. A new one is added here. */
export function createSections(deps: {
  trail: Trail
  random: Random
  mark(kind: string): string
}): Section[] {
  const people = createPeople(deps.random)
  return [
    createPlayersSection(people, deps),
    createAccountsSection({ ...deps, people }),
    createWalletsSection({ ...deps, people }),
    createFriendsSection({ ...deps, people }),
    createGroupsSection(deps),
    createChatSection({ ...deps, historyLimit: bounds.historyLimit }),
    createNotificationsSection({ ...deps, capacity: bounds.capacity }),
    createApiKeysSection(deps),
    createPurchasesSection(deps),
    createLeaderboardsSection(deps),
    createStorageSection(deps),
  ]
}

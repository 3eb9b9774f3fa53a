import type { CrashModel } from '../../../features/feature.ts'
import type { Section } from '../operation.ts'
import type { Random } from '../random.ts'
import { createAccountsSection } from './accounts.ts'
import { createApiKeysSection } from './api-keys.ts'
import { createChatSection } from './chat.ts'
import { createFriendsSection } from './friends.ts'
import { createGroupsSection } from './groups.ts'
import { createLeaderboardsSection } from './leaderboards.ts'
import { createMatchesSection } from './matches.ts'
import { createNotificationsSection } from './notifications.ts'
import { createPeople } from './people.ts'
import { createPlayersSection } from './players.ts'
import { createPurchasesSection } from './purchases.ts'
import { createScriptsSection } from './scripts.ts'
import { createStorageSection } from './storage.ts'
import type { Trail } from './trail.ts'
import { createWalletsSection } from './wallets.ts'

/** What the store keeps at most of what comes and goes. */
export type Bounds = { historyLimit: number; capacity: number; ledgerRetention: number }

/** So small that every ring and every retention evicts within a round. */
export const tightBounds: Bounds = { historyLimit: 60, capacity: 80, ledgerRetention: 300 }

/**
 * Nothing is evicted. A node that outlives an outage goes on adding for seconds before the store is
 * read; of what was done without an answer nothing may be gone by then, for only the store knows.
 */
export const roomyBounds: Bounds = {
  historyLimit: 10_000,
  capacity: 10_000,
  ledgerRetention: 1_000_000,
}

/** The configuration under which the sections are right. */
export function sectionKeys(bounds: Bounds): Readonly<Record<string, string>> {
  return {
    'chat.history_limit': String(bounds.historyLimit),
    'notifications.capacity': String(bounds.capacity),
    'wallet.ledger_retention': String(bounds.ledgerRetention),
  }
}

/** The same bounds as the doctor wants them. */
export function doctorBounds({ historyLimit, capacity, ledgerRetention }: Bounds) {
  return { historyLimit, notificationsMax: capacity, ledgerMax: ledgerRetention }
}

/** The models that features declare, and two sections that change what those hold. */
type SectionName = Exclude<CrashModel, 'trail' | 'doctor'> | 'accounts' | 'scripts'

/** What the load changes. A model that is declared and not written does not compile. */
export function createSections(deps: {
  trail: Trail
  random: Random
  bounds: Bounds
  mark(kind: string): string
}): Readonly<Record<SectionName, Section>> {
  const { historyLimit, capacity } = deps.bounds
  const people = createPeople(deps.random)
  return {
    players: createPlayersSection(people, deps),
    accounts: createAccountsSection({ ...deps, people }),
    wallets: createWalletsSection({ ...deps, people }),
    scripts: createScriptsSection({ ...deps, people }),
    friends: createFriendsSection({ ...deps, people }),
    groups: createGroupsSection(deps),
    chat: createChatSection({ ...deps, historyLimit }),
    notifications: createNotificationsSection({ ...deps, capacity }),
    'api-keys': createApiKeysSection(deps),
    purchases: createPurchasesSection(deps),
    leaderboards: createLeaderboardsSection(deps),
    storage: createStorageSection(deps),
    matches: createMatchesSection(deps),
  }
}

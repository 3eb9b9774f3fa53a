import {
  accountsApi,
  apiKeysApi,
  chatApi,
  friendsApi,
  groupsApi,
  notificationsApi,
  walletApi,
} from '@guildhall/contract'
import { createKeyUse } from '../features/api-keys/api-keys.jobs.ts'
import { apiKeyHandlers } from '../features/api-keys/api-keys.routes.ts'
import { createApiKeys } from '../features/api-keys/api-keys.service.ts'
import { createHistoryPruner } from '../features/chat/chat.jobs.ts'
import { chatHandlers } from '../features/chat/chat.routes.ts'
import { createChat } from '../features/chat/chat.service.ts'
import { createAccountCount } from '../features/console-accounts/console-accounts.jobs.ts'
import { consoleAccountHandlers } from '../features/console-accounts/console-accounts.routes.ts'
import { createConsoleAccounts } from '../features/console-accounts/console-accounts.service.ts'
import { friendHandlers } from '../features/friends/friends.routes.ts'
import { createFriends, friendsOf } from '../features/friends/friends.service.ts'
import { groupHandlers } from '../features/groups/groups.routes.ts'
import { createGroups, groupsOf } from '../features/groups/groups.service.ts'
import { notificationHandlers } from '../features/notifications/notifications.routes.ts'
import { createNotifications } from '../features/notifications/notifications.service.ts'
import { storageOf } from '../features/storage/storage.service.ts'
import { createWalletPruners } from '../features/wallet/wallet.jobs.ts'
import { walletHandlers } from '../features/wallet/wallet.routes.ts'
import { balancesOf, createWallets } from '../features/wallet/wallet.service.ts'
import { bindHandlers } from '../kernel/http/exchange.ts'
import type { Players } from './players.ts'
import { joinSections, type Section } from './sections.ts'
import type { Shared } from './shared.ts'
import type { Trail } from './trail.ts'

type Parts = { trail: Trail; players: Players }

export type People = ReturnType<typeof createPeople>

/** The console's sections about people; each is built on its own and knows no other. */
export function createPeople(shared: Shared, parts: Parts) {
  const { db, clock, ids, config } = shared
  const { mutate } = parts.trail
  const keyUse = createKeyUse({ db, clock })
  const apiKeys = createApiKeys({ db, clock, ids, mutate, flushUse: keyUse.flush })
  const groups = createGroups({ db, clock, mutate })
  const chat = createChat({
    db,
    clock,
    mutate,
    nodeId: config.server.node_id,
    historyLimit: config.chat.history_limit,
    moderationRetentionDays: config.logs.audit_retention_days,
  })
  const notifications = createNotifications({
    db,
    clock,
    capacity: config.notifications.capacity,
    mutate,
  })
  const sections: Section[] = [
    { routes: bindHandlers(apiKeysApi, apiKeyHandlers(apiKeys)), pruners: {} },
    ...accountSections(shared, parts),
    { routes: bindHandlers(groupsApi, groupHandlers(groups)), pruners: {} },
    {
      routes: bindHandlers(chatApi, chatHandlers(chat)),
      pruners: {
        chat_messages: createHistoryPruner(db, config.chat.history_limit),
        chat_moderation: chat.pruneModeration,
      },
    },
    {
      routes: bindHandlers(notificationsApi, notificationHandlers(notifications)),
      pruners: { notifications: notifications.prune },
    },
  ]
  return {
    verifyKey: apiKeys.verify,
    keyUse,
    storeNotifications: notifications.store,
    countAccounts: createAccountCount(db),
    ...joinSections(sections),
  }
}

/** The sections about accounts and what belongs to one. */
function accountSections(shared: Shared, { trail, players }: Parts): Section[] {
  const { db, clock, ids, config } = shared
  const { mutate, mutateMany } = trail
  const accounts = createConsoleAccounts({
    db,
    clock,
    ids,
    mutate,
    revokeSessions: players.sessions.revokeAllOf,
    closeSessions: players.sessions.closeRevoked,
    walletOf: balancesOf,
    friendsOf,
    groupsOf,
    storageOf,
  })
  const accountExists = players.accounts.exists
  const friends = createFriends({ db, clock, mutate, accountExists })
  const walletDeps = { db, clock, config: config.wallet }
  const wallets = createWallets({ ...walletDeps, mutateMany, accountExists })
  const walletPruners = createWalletPruners(walletDeps)
  return [
    { routes: bindHandlers(accountsApi, consoleAccountHandlers(accounts)), pruners: {} },
    {
      routes: bindHandlers(walletApi, walletHandlers(wallets)),
      pruners: { wallet_ledger: walletPruners.ledger, wallet_keys: walletPruners.keys },
    },
    { routes: bindHandlers(friendsApi, friendHandlers(friends)), pruners: {} },
  ]
}

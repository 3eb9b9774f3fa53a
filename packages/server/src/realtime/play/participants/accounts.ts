import type { LiveSession } from '../../connection/live/live-session.ts'
import type { AccountKey } from '../matchmaker/tickets/ticket.ts'
import type { Participant } from './participant.ts'
import type { Registry } from './registry.ts'

/**
 * The accounts that are connected, as the matchmaker and parties name them. A guest is an account
 * of its own that ends with its connection.
 */
export type LiveAccounts = {
  keyOf(participant: Participant): AccountKey
  /** The connections of an account, the longest connected first. */
  connections(account: AccountKey): LiveSession[]
  isOnline(account: AccountKey): boolean
  /**
   * Of these accounts, who has been connected longest without a gap; the first one when nobody is
   * connected.
   */
  longestConnected(userIds: readonly string[]): string
}

const guestPrefix = 'guest:'

export function createLiveAccounts(registry: Registry): LiveAccounts {
  function connections(account: AccountKey): LiveSession[] {
    if (!account.startsWith(guestPrefix)) return [...registry.byUser(account)]
    const guest = registry.byId(Number(account.slice(guestPrefix.length)))
    return guest?.live === undefined ? [] : [guest.live]
  }

  const sinceMs = (userId: string) => registry.connectedSinceMs(userId) ?? Number.POSITIVE_INFINITY

  return {
    keyOf: ({ context }) => context.user_id ?? guestPrefix + context.participant,
    connections,
    isOnline: (account) => connections(account).length > 0,
    longestConnected(userIds) {
      const [first = '', ...others] = userIds
      return others.reduce((best, one) => (sinceMs(one) < sinceMs(best) ? one : best), first)
    },
  }
}

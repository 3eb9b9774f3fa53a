import { type AccountKey, type Accounts, guestOf } from '../accounts.port.ts'
import type { Participant } from './participant.ts'
import type { Registry } from './registry.ts'

/** The accounts that are connected here. */
export function createAccounts(registry: Registry): Accounts {
  function participantsOf(account: AccountKey): Iterable<Participant> {
    const id = guestOf(account)
    if (id === undefined) return registry.byUser(account)
    const guest = registry.byId(id)
    return guest?.isConnected ? [guest] : []
  }

  function contextOf(account: AccountKey) {
    for (const { context } of participantsOf(account)) return context
    return undefined
  }

  const sinceMs = (userId: string) => registry.connectedSinceMs(userId) ?? Number.POSITIVE_INFINITY

  return {
    isOnline: (account) => contextOf(account) !== undefined,
    contextOf,
    longestConnected(userIds) {
      const [first = '', ...others] = userIds
      return others.reduce((best, one) => (sinceMs(one) < sinceMs(best) ? one : best), first)
    },
    deliver(account, frame, except) {
      // A connection that does not read may end by this.
      for (const { context, receiver } of [...participantsOf(account)]) {
        if (context.participant !== except) receiver.deliver(frame, false)
      }
    },
  }
}

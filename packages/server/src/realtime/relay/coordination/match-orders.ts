import type { AccountKey } from '../../play/accounts.port.ts'
import type { Gathered } from '../../play/coordination.port.ts'
import type { FormedMatch, MatchOrder } from '../../play/matchmaker/offers/match-order.ts'
import type { OfferOrder } from '../../play/matchmaker/offers/offer.ts'
import { type Asks, silent } from '../asks.ts'
import type { RelayDeps } from '../relay-deps.ts'
import type { PresentAccounts } from './present-accounts.ts'
import { readFormed, readOfferOrder, readOrder } from './records.ts'

type MatchOrdersDeps = Pick<RelayDeps, 'membership' | 'commandTimeoutMs'> & {
  asks: Asks
  present: Pick<PresentAccounts, 'bootsOf'>
  gathered(): Gathered
}

const about = 'match'
const aboutOffer = 'offer'
/** The script of the other node may take its time for the label. */
const formMs = 10_000

/** Where the rooms of matches are made, and who is sent to rooms that run. */
export function createMatchOrders(deps: MatchOrdersDeps) {
  const { asks, membership, present, gathered } = deps

  function isPlace(boot: string): boolean {
    return membership.isThere(boot) && membership.node(boot)?.state === 'live'
  }

  asks.serve(about, async (value) => {
    const order = readOrder(value)
    return order && membership.holdsLease() ? await gathered().form(order) : null
  })

  asks.serve(aboutOffer, async (value) => {
    const order = readOfferOrder(value)
    return order && gathered().offers.fillOrder(order)
  })

  return {
    /** The node with most of the players; of several that of the oldest. */
    placeOfMatch(accounts: readonly AccountKey[]): string | undefined {
      const players = new Map<string, number>()
      for (const account of accounts) {
        for (const boot of present.bootsOf(account)) {
          if (isPlace(boot)) players.set(boot, (players.get(boot) ?? 0) + 1)
        }
      }
      const most = Math.max(...players.values())
      const place = [...players].find(([, count]) => count === most)?.[0]
      return place === membership.bootId ? undefined : place
    },
    async form(boot: string, order: MatchOrder): Promise<FormedMatch | undefined> {
      const said = await asks.ask(boot, { about, value: order }, formMs)
      return said === silent ? undefined : readFormed(said)
    },
    async fillOffer(boot: string, order: OfferOrder): Promise<FormedMatch | undefined> {
      const question = { about: aboutOffer, value: order }
      const said = await asks.ask(boot, question, deps.commandTimeoutMs)
      return said === silent ? undefined : readFormed(said)
    },
  }
}

import { atEndOfTurn } from '../../../kernel/clock.ts'
import type { OffersSaid, SharedOffers } from '../../play/matchmaker/offers/offer.ts'

/** Says what the rooms of this node offer: first everything, then what has changed. */
export type OfferFeed = {
  changed(): void
  /** Says everything, as to somebody new. */
  begin(): void
  /** Says what has changed, e.g. by members who came or left; now and then everything. */
  beat(): void
}

type OfferFeedDeps = {
  gathered(): { offers: Pick<SharedOffers, 'records'> }
  /** The node that has the tickets, where it is another one and known. */
  to(): string | undefined
  say(to: string, said: OffersSaid): void
}

/** A message may be lost: so many beats later it is made up for. */
const beatsToAll = 5

export function createOfferFeed({ gathered, to, say }: OfferFeedDeps): OfferFeed {
  /** What was said last, by offer. */
  let said = new Map<string, string>()
  let beats = 0
  let isPlanned = false

  function send(isAll: boolean): void {
    const boot = to()
    if (boot === undefined) {
      said.clear()
      return
    }
    const now = new Map<string, string>()
    const changed = gathered()
      .offers.records()
      .filter((record) => {
        const { id, seats, places, places_max } = record
        const state = `${seats} ${places} ${places_max}`
        now.set(id, state)
        return isAll || said.get(id) !== state
      })
    const over = [...said.keys()].filter((id) => !now.has(id))
    said = now
    if (isAll || changed.length + over.length > 0) say(boot, { isAll, records: changed, over })
  }

  return {
    changed() {
      if (isPlanned) return
      isPlanned = true
      atEndOfTurn(() => {
        isPlanned = false
        send(false)
      })
    },
    begin: () => send(true),
    beat() {
      beats += 1
      send(beats % beatsToAll === 0)
    },
  }
}

import { atEndOfTurn } from '../../../kernel/clock.ts'
import type { OfferRecord, OffersSaid } from '../../play/matchmaker/offers/offer.ts'

/** Says what the rooms of this node offer: first everything, then what has changed. */
export type OfferFeed = {
  changed(): void
  /** Says everything, as to somebody new. */
  begin(): void
  /** Says what has changed, e.g. by members who came or left; now and then everything. */
  beat(): void
}

type OfferFeedDeps = {
  records(): readonly OfferRecord[]
  /** False while nobody is there to listen. */
  isHeard(): boolean
  say(said: OffersSaid): void
}

/** A message may be lost: so many beats later it is made up for. */
const beatsToAll = 5

export function createOfferFeed({ records, isHeard, say }: OfferFeedDeps): OfferFeed {
  /** What was said last, by offer. */
  let said = new Map<string, string>()
  let beats = 0
  let isPlanned = false

  function send(isAll: boolean): void {
    if (!isHeard()) {
      said.clear()
      return
    }
    const now = new Map<string, string>()
    const changed = records().filter((record) => {
      const { id, seats, places, places_max } = record
      const state = `${seats} ${places} ${places_max}`
      now.set(id, state)
      return isAll || said.get(id) !== state
    })
    const over = [...said.keys()].filter((id) => !now.has(id))
    said = now
    if (changed.length + over.length > 0) say({ isAll, records: changed, over })
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

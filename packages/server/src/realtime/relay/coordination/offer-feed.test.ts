import { expect, test } from 'vitest'
import type { OffersSaid } from '../../play/matchmaker/offers/offer.ts'
import { createOfferFeed } from './offer-feed.ts'

test('[R-CL-12] that a node offers nothing is said as well, when it says everything', () => {
  const said: OffersSaid[] = []
  const feed = createOfferFeed({
    gathered: () => ({ offers: { records: () => [] } }),
    to: () => 'bt1-2',
    say: (_, what) => said.push(what),
  })
  feed.begin()
  expect(said).toEqual([{ isAll: true, records: [], over: [] }])
  for (let beat = 1; beat <= 4; beat += 1) feed.beat()
  expect(said).toHaveLength(1)
  feed.beat()
  expect(said).toHaveLength(2)
})

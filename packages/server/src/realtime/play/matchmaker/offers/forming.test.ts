import { expect, test } from 'vitest'
import { startPasses } from '../pass/pass.fixture.ts'
import { createForming, type FormingDeps } from './forming.ts'
import type { FormedMatch } from './match-order.ts'

test('[R-CL-12, R-MM-17] an answer for tickets that came anew from another node changes none', async () => {
  const { clock, queue, ticketOf } = startPasses()
  const { promise, resolve } = Promise.withResolvers<FormedMatch | undefined>()
  const taken: string[] = []
  const deps: Partial<FormingDeps> = {
    ...{ clock, queue, taken: ({ id }) => taken.push(id) },
    coordination: {
      placeOfMatch: () => undefined,
      form: () => promise,
      fillOffer: () => promise,
    },
    accounts: {
      isOnline: () => true,
      contextOf: () => undefined,
    } as unknown as FormingDeps['accounts'],
  }
  const forming = createForming(deps as FormingDeps)
  const before = ticketOf({}, { id: 'ticket', accounts: ['ann'] })
  queue.finish(before, 'matched')
  const work = forming.intoOffer('bt1-2', 'offer', [before])
  queue.clear()
  const now = ticketOf({}, { id: 'ticket', accounts: ['bob'] })
  resolve(undefined)
  await work
  expect([...queue.all()]).toEqual([now])
  expect([queue.size, queue.givenBack, taken]).toEqual([1, 0, []])
})

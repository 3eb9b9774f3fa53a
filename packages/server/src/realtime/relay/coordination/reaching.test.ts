import { kinds } from '@guildhall/contract'
import { expect, test } from 'vitest'
import { atEndOfTurn } from '../../../kernel/clock.ts'
import { BadMessage } from '../../../kernel/cluster/wire.ts'
import { outgoingFrame } from '../../frames/outgoing-frame.ts'
import type { Accounts } from '../../play/accounts.port.ts'
import { createReaching } from './reaching.ts'

function delivering() {
  const delivered: string[] = []
  const accounts = { deliver: (account: string) => void delivered.push(account) }
  return { delivered, reaching: createReaching(() => accounts as unknown as Accounts) }
}

function matched(ticket_id: string, match_id: number) {
  const body = Buffer.from(JSON.stringify({ ticket_id, match_id, join_token: `${match_id}` }))
  return outgoingFrame(kinds.MATCHMAKER_MATCHED.first, body)
}

test('[R-CL-12] a second match of one ticket is dropped, whatever room it is for', async () => {
  const { delivered, reaching } = delivering()
  reaching.deliver('u-ann', matched('t1', 1))
  reaching.deliver('u-ann', matched('t1', 2))
  reaching.deliver('u-bob', matched('t1', 2))
  reaching.deliver('u-ann', matched('t2', 3))
  await new Promise<void>(atEndOfTurn)
  expect(delivered).toEqual(['u-ann', 'u-bob', 'u-ann'])
})

test('[R-MM-10] a match comes behind the answer that came with it, in one packet', async () => {
  const { delivered, reaching } = delivering()
  const answered = Promise.withResolvers<void>()
  const replied = answered.promise.then(async () => {
    // As many steps as an answer takes, and more.
    for (let step = 0; step < 20; step += 1) await undefined
    delivered.push('the ticket')
  })
  answered.resolve()
  reaching.deliver('u-ann', matched('t1', 1))
  await replied
  await new Promise<void>(atEndOfTurn)
  expect(delivered).toEqual(['the ticket', 'u-ann'])
})

test('[R-CL-14] a match that is none is no message', () => {
  const reaching = createReaching(() => ({}) as unknown as Accounts)
  for (const text of ['', '{', 'null']) {
    const frame = outgoingFrame(kinds.MATCHMAKER_MATCHED.first, Buffer.from(text))
    expect(() => reaching.deliver('u-ann', frame)).toThrow(BadMessage)
  }
})

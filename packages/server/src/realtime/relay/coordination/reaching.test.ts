import { kinds } from '@guildhall/contract'
import { expect, test } from 'vitest'
import { BadMessage } from '../../../kernel/cluster/wire.ts'
import { outgoingFrame } from '../../frames/outgoing-frame.ts'
import type { Accounts } from '../../play/accounts.port.ts'
import { createReaching } from './reaching.ts'

test('[R-CL-12] a second match of one ticket is dropped, whatever room it is for', () => {
  const delivered: string[] = []
  const accounts = { deliver: (account: string) => void delivered.push(account) }
  const reaching = createReaching(() => accounts as unknown as Accounts)
  const matched = (ticket_id: string, match_id: number) => {
    const body = Buffer.from(JSON.stringify({ ticket_id, match_id, join_token: `${match_id}` }))
    return outgoingFrame(kinds.MATCHMAKER_MATCHED.first, body)
  }
  reaching.deliver('u-ann', matched('t1', 1))
  reaching.deliver('u-ann', matched('t1', 2))
  reaching.deliver('u-bob', matched('t1', 2))
  reaching.deliver('u-ann', matched('t2', 3))
  expect(delivered).toEqual(['u-ann', 'u-bob', 'u-ann'])
})

test('[R-CL-14] a match that is none is no message', () => {
  const reaching = createReaching(() => ({}) as unknown as Accounts)
  for (const text of ['', '{', 'null']) {
    const frame = outgoingFrame(kinds.MATCHMAKER_MATCHED.first, Buffer.from(text))
    expect(() => reaching.deliver('u-ann', frame)).toThrow(BadMessage)
  }
})

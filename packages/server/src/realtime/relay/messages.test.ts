import { expect, test } from 'vitest'
import { numbers, protocolVersion } from './messages.ts'

test('[O-NOD-3] messages keep their numbers: nodes of two releases understand each other', () => {
  expect(protocolVersion).toBe(1)
  expect(numbers).toEqual({
    contents: [
      ...['asks', 'reports', 'reset', 'send', 'broadcast', 'topic', 'push', 'forward', 'replaced'],
      ...['revoked', 'ask', 'answer', 'coordinates', 'notCoordinating', 'presence'],
      ...['presenceAgain', 'edgeStops', 'kept', 'keep', 'reach', 'offers'],
    ],
    asks: [
      ...['enter', 'cancel', 'leaveRoom', 'moved', 'flags', 'position', 'message', 'rpc', 'depart'],
      ...['unsent', 'claim', 'arrive', 'release', 'close'],
    ],
    reports: [
      ...['answer', 'placed', 'deliver', 'positions', 'settled', 'unhandled', 'replied'],
      ...['leftRoom', 'claimed', 'arrived', 'over'],
    ],
  })
})

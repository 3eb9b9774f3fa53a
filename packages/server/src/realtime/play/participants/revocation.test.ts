import { expect, test } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { createRecordedLog } from '../../../kernel/log/log.fake.ts'
import { newClientState } from '../../connection/live/client-state.ts'
import type { LiveSession } from '../../connection/live/live-session.ts'
import { createGatewayMetrics } from '../../metrics.ts'
import { newParticipant } from './participant.ts'
import { createRegistry } from './registry.ts'
import { createRevocation } from './revocation.ts'

test('[R-REV-3] asks about every session, however many there are, and closes all that are over', async () => {
  const registry = createRegistry(createGatewayMetrics())
  const closed: string[] = []
  for (let index = 0; index < 1201; index += 1) {
    const session_id = `s-${index}`
    const player = { session_id, user_id: 'u', username: 'u', refresh_expires_at_unix_ms: 1 }
    const live: LiveSession = {
      participant: newParticipant(index + 1, player),
      client: newClientState(0),
      send() {},
      takeUnsent: () => [],
      messageSettled() {},
      deliver() {},
      deliverPositions() {},
      end: ({ code }) => void closed.push(`${session_id} ${code}`),
    }
    registry.add(live)
  }
  const over = new Set(['s-0', 's-499', 's-500', 's-999', 's-1000', 's-1200'])
  const asked: number[] = []
  const revocation = createRevocation({
    registry,
    seats: { sessionIds: () => [], endSessions() {} },
    clock: createFakeClock(),
    log: createRecordedLog(),
    liveSessions: async (ids) => {
      asked.push(ids.length)
      return new Set(ids.filter((id) => !over.has(id)))
    },
  })
  await revocation.revalidate()
  expect(closed).toEqual([...over].map((id) => `${id} 4004`))
  expect(asked).toEqual([500, 500, 201])
})

import { expect, test } from 'vitest'
import { createFakeClock } from '../kernel/clock.fake.ts'
import { createRecordedLog } from '../kernel/log/log.fake.ts'
import { createRevocation } from './revocation.ts'

test('[R-REV-3] asks about every session, however many there are, and closes all that are over', async () => {
  const over = new Set(['s-0', 's-499', 's-500', 's-999', 's-1000', 's-1200'])
  const closed: string[] = []
  const asked: number[] = []
  const revocation = createRevocation({
    sessionIds: () => Array.from({ length: 1201 }, (_, index) => `s-${index}`),
    closeSessions: (ids) => void closed.push(...ids),
    clock: createFakeClock(),
    log: createRecordedLog(),
    liveSessions: async (ids) => {
      asked.push(ids.length)
      return new Set(ids.filter((id) => !over.has(id)))
    },
  })
  await revocation.revalidate()
  expect(closed).toEqual([...over])
  expect(asked).toEqual([500, 500, 201])
})

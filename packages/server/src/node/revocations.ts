import type { Database } from '../database/database.ts'
import { createRevocationReader } from '../features/sessions/sessions.jobs.ts'
import type { Clock } from '../kernel/clock.ts'

type RevocationsDeps = {
  db: Database
  clock: Clock
  gateway: {
    closeSessions(sessionIds: readonly string[]): void
    revalidate(): Promise<void>
  }
}

/** After a silence this long something may have been missed, in milliseconds. */
const silenceMaxMs = 5000

/** Makes the task that closes connections whose session another node revoked. */
export function createRevocations({ db, clock, gateway }: RevocationsDeps): () => Promise<void> {
  const read = createRevocationReader(db, clock, gateway.closeSessions)
  let lastReadMs = clock.monotonicMs()
  return async () => {
    await read()
    if (clock.monotonicMs() - lastReadMs > silenceMaxMs) await gateway.revalidate()
    lastReadMs = clock.monotonicMs()
  }
}

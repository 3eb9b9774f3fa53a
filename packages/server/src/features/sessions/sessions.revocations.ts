import type { Database } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { defineFeature } from '../feature.ts'
import { createRevocationReader } from './sessions.jobs.ts'

type RevocationsDeps = {
  db: Database
  clock: Clock
  gateway: {
    closeSessions(sessionIds: readonly string[]): void
    revalidate(): Promise<void>
  }
}

const readIntervalMs = 500
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

/** What other nodes revoke. A file belongs to one node, so only a shared database has any. */
export function revocationsFeature(deps: RevocationsDeps) {
  if (deps.db.backend !== 'postgres') return defineFeature({})
  const run = createRevocations(deps)
  const task = { name: 'revocations', intervalMs: readIntervalMs, run } as const
  return defineFeature({ tasks: [{ ...task, needsDatabase: true, essential: true }] })
}

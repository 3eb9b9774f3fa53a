import type { Database } from '../database/database.ts'
import { databaseNow, lastRecordedTime } from '../database/reads/stored-time.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log/log.ts'
import { type ClockWatch, createClockWatch, expectSameTime } from '../kernel/time/clock-watch.ts'

/** How often the clocks are looked at, in milliseconds. */
export const clockCheckMs = 1000

type ClocksDeps = { db: Database; clock: Clock; log: Log }

/**
 * Looks at the clock as the node starts, before it stores anything: it has to agree with that of a
 * database server, and to be past what an embedded file holds already.
 *
 * @throws ClockUnfit when it is more than a minute from the database's
 */
export async function openClockWatch({ db, clock, log }: ClocksDeps): Promise<ClockWatch> {
  const watch = createClockWatch({ clock, log: log.component('clock') })
  if (db.backend === 'postgres') expectSameTime(await watch.compare(() => databaseNow(db)))
  if (db.backend === 'sqlite') {
    const recordedUnixMs = await lastRecordedTime(db)
    if (recordedUnixMs !== undefined) watch.expectPast(recordedUnixMs)
  }
  return watch
}

/** Makes the task that goes on looking. SQLite goes by the node's own clock. */
export function createClockCheck(db: Database, watch: ClockWatch): () => Promise<void> {
  return async () => {
    watch.check()
    if (db.backend !== 'postgres' || db.state() !== 'up') return
    await watch.compare(() => databaseNow(db))
  }
}

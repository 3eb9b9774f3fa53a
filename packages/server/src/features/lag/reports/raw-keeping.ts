import type { Database } from '../../../database/database.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { ErrorJournal } from '../../../kernel/errors/error-journal.ts'
import type { Log } from '../../../kernel/log/log.ts'
import type { RawStore } from '../uploads/raw-store.ts'
import { artifactsStore } from './artifacts.store.ts'
import { removeRaw } from './lag.console.ts'

export type RawKeepingDeps = {
  db: Database
  clock: Clock
  log: Log
  journal: Pick<ErrorJournal, 'record'>
  nodeId: string
  raw: RawStore
  retention_hours: number
  report_retention_days: number
}

const batchItems = 100
const hourMs = 3_600_000

/** Keeps files and rows of recordings together: at the boot, and when their time is over. */
export function createRawKeeping(deps: RawKeepingDeps) {
  const { db, clock, log, nodeId, raw } = deps

  /** What cannot be removed stays until the next time, and holds up none of the others. */
  async function attempt(remove: () => Promise<void>): Promise<void> {
    try {
      await remove()
    } catch (error) {
      deps.journal.record({ category: 'task', component: 'lag-retention', error })
    }
  }

  /** Rows of this node without a file go; answers with the handles of the others. */
  async function checkRows(files: ReadonlySet<string>): Promise<Set<string>> {
    const kept = new Set<string>()
    let after = ''
    for (;;) {
      const page = { node_id: nodeId, after, limit: batchItems }
      const rows = await artifactsStore.ofNode(db, page)
      for (const row of rows) {
        after = row.handle
        raw.quota.use(row.compressed_bytes)
        if (row.available && files.has(row.handle)) kept.add(row.handle)
        else await attempt(() => removeRaw({ db, nodeId, raw }, row))
      }
      if (rows.length < batchItems) return kept
    }
  }

  return {
    /** Ends what earlier boots have left half done: received or removed in part. */
    async open(): Promise<void> {
      await raw.open()
      const files = new Set(await raw.handles())
      const kept = await checkRows(files)
      for (const handle of files.difference(kept)) {
        // What another node keeps is none of this one's business.
        if ((await artifactsStore.byHandle(db, handle)) !== undefined) continue
        await attempt(async () => {
          await raw.remove(handle, 0)
          log.warn('a lag recording without a row was removed', { handle })
        })
      }
    },

    /** Removes recordings whose time is over, batch by batch until none is left. */
    async removeExpired({ signal, progress }: { signal: AbortSignal; progress(): void }) {
      const hours = Math.min(deps.retention_hours, deps.report_retention_days * 24)
      let after = ''
      while (!signal.aborted) {
        const expired_unix_ms = Math.round(clock.nowUnixMs()) - hours * hourMs
        const bounds = { node_id: nodeId, expired_unix_ms, after, limit: batchItems }
        const rows = await artifactsStore.expired(db, bounds)
        for (const row of rows) {
          after = row.handle
          await attempt(() => removeRaw({ db, nodeId, raw }, row))
        }
        progress()
        if (rows.length < batchItems) return
      }
    },
  }
}

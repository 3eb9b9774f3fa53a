import { isDurableId, type TelemetrySlice, type telemetryApi } from '@guildhall/contract'
import type { z } from 'zod'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import { lostRows, ownRowsWritten } from '../../kernel/batching/row-queue.ts'
import type { WriteBehind } from '../../kernel/batching/write-behind.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import type { PruneBatch } from '../../kernel/tasks/retention.ts'
import { type SliceRow, telemetryStore } from './telemetry.store.ts'

export type TelemetryDeps = {
  db: Database
  clock: Clock
  retentionDays: number
  /** Absent on a backend that keeps no slices. */
  queue: Pick<WriteBehind<SliceRow>, 'flush' | 'counts'> | undefined
}

type Query = z.output<(typeof telemetryApi)['slices']['query']>

/** The telemetry slices that were closed. */
export function createTelemetry({ db, clock, retentionDays, queue }: TelemetryDeps) {
  const prune: PruneBatch<Transaction> = (batch_items, transact = db.transaction) => {
    const expired_unix_ms = clock.nowUnixMs() - retentionDays * 86_400_000
    return transact((tx) => telemetryStore.prune(tx, { expired_unix_ms, batch_items }), {
      isolation: 'read committed',
    })
  }

  return {
    async list(query: Query) {
      await ownRowsWritten(queue)
      const { limit } = query
      const after = query.after?.toLowerCase()
      const match_id = query.match_id?.toLowerCase()
      const page = { after, match_id, limit: limit + 1 }
      const rows = db.durable ? await telemetryStore.list(db, page) : []
      const items = rows.slice(0, limit).map(sliceOf)
      const next_after = rows.length > limit ? items.at(-1)?.report_id : undefined
      const state = { durable: db.durable, dropped_total: lostRows(queue) }
      return next_after === undefined ? { items, ...state } : { items, next_after, ...state }
    },

    async get(reportId: string): Promise<TelemetrySlice> {
      await ownRowsWritten(queue)
      const report_id = reportId.toLowerCase()
      const isReadable = db.durable && isDurableId('ats1-', report_id)
      const row = isReadable ? await telemetryStore.byId(db, report_id) : undefined
      if (row === undefined) throw refuse.notFound('no such telemetry slice')
      return sliceOf(row)
    },

    /** The newest slices of a match. */
    ofMatch: async (tx: Queries, match_id: string, limit: number): Promise<TelemetrySlice[]> =>
      (await telemetryStore.list(tx, { match_id, limit })).map(sliceOf),

    count: telemetryStore.count,
    prune,
  }
}

function sliceOf({ node_id: _, ...slice }: SliceRow): TelemetrySlice {
  return slice
}

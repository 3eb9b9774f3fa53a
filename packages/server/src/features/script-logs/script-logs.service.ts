import { isDurableId, type LogLevel, type LogLine, type scriptLogsApi } from '@guildhall/contract'
import type { z } from 'zod'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import { type AuditRecorder, actorOf } from '../../kernel/audit/recorder.ts'
import type { OperatorPrincipal } from '../../kernel/auth/principal.ts'
import { lostRows, ownRowsWritten } from '../../kernel/batching/row-queue.ts'
import type { WriteBehind } from '../../kernel/batching/write-behind.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import { type Ids, timeOfId } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { PruneBatch } from '../../kernel/tasks/retention.ts'
import { searchLines } from './script-logs.search.store.ts'
import { type LogRow, scriptLogsStore } from './script-logs.store.ts'

export type ScriptLogsDeps = {
  db: Database
  clock: Clock
  ids: Pick<Ids, 'durable'>
  log: Log
  nodeId: string
  retentionDays: number
  recorder: Pick<AuditRecorder, 'record'>
  /** Absent on a backend that keeps no lines. */
  queue: Pick<WriteBehind<LogRow>, 'add' | 'flush' | 'counts'> | undefined
}

/** A line as a script writes it: every member is within its bounds. */
export type NewLine = {
  level: LogLevel
  tag: string
  message: string
  /** JSON text. */
  payload_json?: string | undefined
}

type Search = z.output<(typeof scriptLogsApi)['search']['query']>
type Query = z.output<(typeof scriptLogsApi)['list']['query']>

/** Lines that the game's script writes. They wait in a queue, so that writing never waits. */
export function createScriptLogs(deps: ScriptLogsDeps) {
  const { db, clock, ids, log, nodeId, queue } = deps
  let hasWarned = false

  function record(principal: OperatorPrincipal, read: Read): void {
    deps.recorder.record({ ...actorOf(principal), ...read }, { ringOnly: true })
  }

  /** The lines of a page, and the cursor behind it if there are more. */
  async function page(tx: Queries, query: Query) {
    const after = query.after?.toLowerCase()
    const match_id = query.match_id?.toLowerCase()
    const rows = await scriptLogsStore.list(tx, {
      ...query,
      after,
      match_id,
      limit: query.limit + 1,
    })
    const items = rows.slice(0, query.limit).map(lineOf)
    const next_after = rows.length > query.limit ? items.at(-1)?.log_id : undefined
    return next_after === undefined ? { items } : { items, next_after }
  }

  /** A page of a search; without enough lines it goes on behind those that were looked through. */
  async function searched({ limit, ...query }: Search) {
    const after = query.after?.toLowerCase()
    const match_id = query.match_id?.toLowerCase()
    const wanted = { ...query, after, match_id, limit: limit + 1 }
    const { found, oldest } = await db.longRead((tx) => searchLines(tx, wanted))
    const items = found.slice(0, limit)
    const next_after = found.length > limit ? items.at(-1)?.log_id : oldest
    if (next_after === null || next_after === undefined) return { items }
    return { items, next_after, looked_back_to_unix_ms: timeOfId('ml1-', next_after) }
  }

  const prune: PruneBatch<Transaction> = (batch_items, transact = db.transaction) => {
    const expired_unix_ms = clock.nowUnixMs() - deps.retentionDays * 86_400_000
    return transact((tx) => scriptLogsStore.prune(tx, { expired_unix_ms, batch_items }), {
      isolation: 'read committed',
    })
  }

  return {
    async list(principal: OperatorPrincipal, query: Query) {
      await ownRowsWritten(queue)
      const found = db.durable ? await page(db, query) : { items: [] }
      const details = `returned=${found.items.length}`
      record(principal, { action: 'logs.list', target: query.match_id ?? 'logs', details })
      return { ...found, durable: db.durable, dropped_total: lostRows(queue) }
    },

    async search(principal: OperatorPrincipal, query: Search) {
      await ownRowsWritten(queue)
      const found = db.durable ? await searched(query) : { items: [] }
      const details = `returned=${found.items.length}`
      record(principal, { action: 'logs.list', target: query.match_id ?? 'logs', details })
      return { ...found, durable: db.durable, dropped_total: lostRows(queue) }
    },

    async get(principal: OperatorPrincipal, logId: string) {
      await ownRowsWritten(queue)
      const log_id = logId.toLowerCase()
      const isReadable = db.durable && isDurableId('ml1-', log_id)
      const row = isReadable ? await scriptLogsStore.byId(db, log_id) : undefined
      if (row === undefined) throw refuse.notFound('no such line')
      record(principal, { action: 'logs.detail', target: log_id, details: 'returned=1' })
      const { payload_json } = row
      return payload_json === null ? lineOf(row) : { ...lineOf(row), payload_json }
    },

    /**
     * Keeps a line of the script and answers its id; null where no lines are kept. `made` is the id
     * that the script was answered with already.
     */
    write(
      line: NewLine,
      { match_id }: { match_id: string | null },
      made?: string | null,
    ): string | null {
      const { payload_json = null, ...written } = line
      if (queue === undefined) {
        if (!hasWarned) log.warn('log.write keeps no lines on a database in memory')
        hasWarned = true
        log.info('a line of the script', { ...written, match_id })
        return null
      }
      const log_id = made ?? ids.durable('ml1-')
      const created_at_unix_ms = clock.nowUnixMs()
      queue.add({ log_id, match_id, node_id: nodeId, created_at_unix_ms, ...written, payload_json })
      return log_id
    },

    page,
    count: scriptLogsStore.count,
    prune,
  }
}

type Read = { action: 'logs.list' | 'logs.detail'; target: string; details: string }

function lineOf({ payload_json, ...line }: LogRow): LogLine {
  return { ...line, has_payload: payload_json !== null }
}

import {
  isDurableId,
  type LagReport,
  type LogLine,
  type MatchRecord,
  type matchRecordsApi,
  type TelemetrySlice,
} from '@guildhall/contract'
import type { z } from 'zod'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import { type AuditEvent, type AuditRecorder, actorOf } from '../../kernel/audit/recorder.ts'
import type { OperatorPrincipal } from '../../kernel/auth/principal.ts'
import { lostRows, ownRowsWritten } from '../../kernel/batching/row-queue.ts'
import type { WriteBehind } from '../../kernel/batching/write-behind.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import type { PruneBatch } from '../../kernel/tasks/retention.ts'
import { matchRecordsStore, type RecordRow } from './match-records.store.ts'

export type MatchRecordsDeps = {
  db: Database
  clock: Clock
  nodeId: string
  bootId: string
  retentionDays: number
  recorder: Pick<AuditRecorder, 'record'>
  /** Absent on a backend that keeps no records. */
  queue: Pick<WriteBehind<RecordRow>, 'flush' | 'counts'> | undefined
  /** What other features keep of a match. */
  logs: {
    page(tx: Queries, query: LogPage & { match_id: string }): Promise<FoundLogs>
    count(tx: Queries, matchId: string): Promise<number>
  }
  slices: {
    ofMatch(tx: Queries, matchId: string, limit: number): Promise<TelemetrySlice[]>
    count(tx: Queries, matchId: string): Promise<number>
  }
  lag: {
    ofMatch(tx: Queries, matchId: string, limit: number): Promise<LagReference[]>
    countOfMatch(tx: Queries, matchId: string): Promise<number>
  }
}

type LagReference = Pick<LagReport, 'report_id' | 'capture_id' | 'status' | 'created_at_unix_ms'>
type LogPage = { after?: string | undefined; limit: number }
type FoundLogs = { items: LogLine[]; next_after?: string | undefined }
type Query = z.output<(typeof matchRecordsApi)['list']['query']>
type Read = Pick<AuditEvent, 'action' | 'target' | 'details'>

/** Rows of what is not paged in the entries of a match. */
const inlinedMax = 50
/** A boot that was not seen for so long does not come back, in milliseconds. */
const silentMs = 600_000

/** What is kept of matches. */
export function createMatchRecords(deps: MatchRecordsDeps) {
  const { db, clock, queue, logs, slices, lag } = deps

  function record(principal: OperatorPrincipal, read: Read): void {
    deps.recorder.record({ ...actorOf(principal), ...read }, { ringOnly: true })
  }

  async function find(matchId: string): Promise<RecordRow> {
    const match_id = matchId.toLowerCase()
    const isReadable = db.durable && isDurableId('mt1-', match_id)
    const row = isReadable ? await matchRecordsStore.byId(db, match_id) : undefined
    if (row === undefined) throw refuse.notFound('no such match')
    return row
  }

  async function countsOf(matchId: string) {
    return {
      logs: await logs.count(db, matchId),
      telemetry_slices: await slices.count(db, matchId),
      lag_reports: await lag.countOfMatch(db, matchId),
      audit: 0,
    }
  }

  const prune: PruneBatch<Transaction> = (batch_items, transact = db.transaction) => {
    const now_unix_ms = clock.nowUnixMs()
    const expired_unix_ms = now_unix_ms - deps.retentionDays * 86_400_000
    return transact(
      async (tx) => {
        // A file belongs to one node, which has closed its own at the start.
        if (db.backend === 'postgres') {
          const bounds = { now_unix_ms, silent_ms: silentMs, batch_items }
          await matchRecordsStore.closeOrphans(tx, bounds)
        }
        return matchRecordsStore.prune(tx, { expired_unix_ms, batch_items })
      },
      { isolation: 'read committed' },
    )
  }

  return {
    async list(principal: OperatorPrincipal, { open, after, limit }: Query) {
      await ownRowsWritten(queue)
      const page = { after: after?.toLowerCase(), limit: limit + 1, open: open === 'true' }
      const rows = db.durable ? await matchRecordsStore.list(db, page) : []
      const items = rows.slice(0, limit).map(recordOf)
      const details = `returned=${items.length}`
      record(principal, { action: 'matchlog.list', target: 'matchlogs', details })
      const state = { durable: db.durable, dropped_total: lostRows(queue) }
      const next_after = rows.length > limit ? items.at(-1)?.match_id : undefined
      return next_after === undefined ? { items, ...state } : { items, next_after, ...state }
    },

    async get(principal: OperatorPrincipal, matchId: string) {
      await ownRowsWritten(queue)
      const row = await find(matchId)
      const answer = { ...withResult(row), counts: await countsOf(row.match_id) }
      const details = `returned=1 logs=${answer.counts.logs}`
      record(principal, { action: 'matchlog.detail', target: answer.match_id, details })
      return answer
    },

    async entries(principal: OperatorPrincipal, matchId: string, { after, limit }: LogPage) {
      await ownRowsWritten(queue)
      const row = await find(matchId)
      const { match_id } = row
      const { items, next_after } = await logs.page(db, { match_id, after, limit })
      const answer = {
        record: withResult(row),
        logs: items,
        ...(next_after !== undefined && { logs_next_after: next_after }),
        telemetry_slices: await slices.ofMatch(db, match_id, inlinedMax),
        lag_reports: await lag.ofMatch(db, match_id, inlinedMax),
        audit: [],
        counts: await countsOf(match_id),
      }
      const returned = `returned=${items.length} slices=${answer.telemetry_slices.length}`
      const details = `${returned} lag=${answer.lag_reports.length} audit=0`
      record(principal, { action: 'matchlog.entries', target: match_id, details })
      return answer
    },

    /** Closes what earlier boots of this node have left open: those matches are over. */
    async closeOrphans(): Promise<number> {
      const { nodeId: node_id, bootId: boot_id } = deps
      const boot = { node_id, boot_id, now_unix_ms: clock.nowUnixMs() }
      return matchRecordsStore.closeOwnOrphans(db, boot)
    },

    prune,
  }
}

function recordOf(row: RecordRow): MatchRecord {
  const { result_json: _, closed_at_unix_ms, termination_reason, ...kept } = row
  return {
    ...kept,
    clock_epoch: 0,
    open: closed_at_unix_ms === null,
    ...(closed_at_unix_ms !== null && { closed_at_unix_ms }),
    ...(termination_reason !== null && { termination_reason }),
  }
}

function withResult(row: RecordRow) {
  const { result_json } = row
  return result_json === null ? recordOf(row) : { ...recordOf(row), result_json }
}

import { isLagId, type LagArtifact, type LagOutcome, type lagApi } from '@guildhall/contract'
import type { z } from 'zod'
import type { Database, Queries } from '../../../database/database.ts'
import type { OperatorPrincipal } from '../../../kernel/auth/principal.ts'
import { ownRowsWritten } from '../../../kernel/batching/row-queue.ts'
import type { WriteBehind } from '../../../kernel/batching/write-behind.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { refuse } from '../../../kernel/failure.ts'
import { FileAnswer } from '../../../kernel/http/exchange.ts'
import type { Ids } from '../../../kernel/ids.ts'
import type { AnalysisQueue } from '../analysis/analysis-queue.ts'
import { analyzerVersion, decoderVersion } from '../analysis/analyze.ts'
import { defaultMaxWindows, optionsHash } from '../analysis/options-hash.ts'
import { type CaptureRow, capturesStore } from '../captures/captures.store.ts'
import type { RawStore } from '../uploads/raw-store.ts'
import { type ArtifactRow, artifactsStore } from './artifacts.store.ts'
import { type CaptureQuery, captureListStore } from './captures-list.store.ts'
import { newReport } from './publish.ts'
import { captureOf, reportOf, windowsOf } from './report-of.ts'
import { reportsStore } from './reports.store.ts'

export type LagConsoleDeps = {
  db: Database
  clock: Clock
  ids: Pick<Ids, 'lagReportId'>
  nodeId: string
  /** Absent on a backend that keeps nothing. */
  rows: Pick<WriteBehind<CaptureRow>, 'flush'> | undefined
  /** Undefined without a folder of recordings: rows of earlier times are shown, bytes are not. */
  kept: { raw: RawStore; queue: AnalysisQueue; queued(): void } | undefined
}

export type LagConsole = ReturnType<typeof createLagConsole>

type Page = { after?: string | undefined; limit: number }
type Regenerate = z.output<(typeof lagApi)['regenerate']['body']>
type Regenerated = z.input<(typeof lagApi)['regenerate']['ok']>

/** Longest wait for a report that is made again, in milliseconds. */
const regenerateMs = 30_000
const pendingMax = 64
/** Behind every id. */
const last = '\u{10ffff}'

/** What operators see and do of lag diagnostics. */
export function createLagConsole(deps: LagConsoleDeps) {
  const { db, clock, nodeId, kept } = deps
  const own_node_id = kept === undefined ? '' : nodeId

  async function findReport(report_id: string) {
    const isReadable = db.durable && isLagId('report', report_id)
    const row = isReadable ? await reportsStore.byId(db, { report_id, own_node_id }) : undefined
    if (row === undefined) throw refuse.notFound('no such report')
    return row
  }

  async function expectCapture(capture_id: string): Promise<CaptureRow> {
    const isReadable = db.durable && isLagId('capture', capture_id)
    const row = isReadable ? await capturesStore.byId(db, capture_id) : undefined
    if (row === undefined) throw refuse.notFound('no such capture')
    return row
  }

  /** A recording of the capture whose bytes this node keeps. */
  async function findKept(tx: Queries, capture: CaptureRow, handle: string) {
    const row = isLagId('handle', handle) ? await artifactsStore.byHandle(tx, handle) : undefined
    const isOwn = row?.capture_id === capture.capture_id && row.node_id === nodeId
    return isOwn && row.available && kept !== undefined ? row : undefined
  }

  async function expectKept(capture: CaptureRow, handle: string): Promise<Kept> {
    const artifact = await findKept(db, capture, handle)
    if (artifact === undefined || kept === undefined) throw refuse.notFound('no such recording')
    return { ...kept, artifact }
  }

  /** Queues a report, or answers why it is not queued. */
  async function enqueue(capture: CaptureRow, { handle, options }: Regenerate) {
    const asked = {
      send_rate_hz: options?.send_rate_hz ?? null,
      max_windows: options?.max_windows ?? defaultMaxWindows,
    }
    return db.transaction(async (tx): Promise<Enqueued> => {
      const artifact = await findKept(tx, capture, handle)
      if (artifact === undefined) throw refuse.conflict('the bytes of the recording are not kept')
      const identity = {
        handle,
        decoder_version: decoderVersion,
        analyzer_version: analyzerVersion,
        options_hash: optionsHash(asked),
      }
      const known = await reportsStore.byIdentity(tx, identity)
      if (known?.status === 'pending') return { state: 'joined', report_id: known.report_id }
      if ((await reportsStore.countPending(tx, nodeId)) >= pendingMax) return { state: 'busy' }
      const nowUnixMs = Math.round(clock.nowUnixMs())
      if (known !== undefined) {
        const { report_id } = known
        await reportsStore.requeue(tx, { report_id, queued_at_unix_ms: nowUnixMs })
        return { state: 'queued', report_id }
      }
      const report = newReport(artifact, {
        report_id: deps.ids.lagReportId(),
        label: capture.label,
        status: 'pending',
        options: asked,
        nowUnixMs,
      })
      await reportsStore.insert(tx, report)
      return { state: 'queued', report_id: report.report_id }
    })
  }

  /** What a queued report came to, or undefined after 30 s. */
  async function awaited(report_id: string): Promise<LagOutcome | undefined> {
    if (kept === undefined) return undefined
    const { outcome, stop } = kept.queue.outcomeOf(report_id)
    const limit = clock.after(regenerateMs, stop)
    kept.queued()
    const reached = await outcome
    limit.cancel()
    return reached
  }

  return {
    expectCapture,

    async reports(principal: OperatorPrincipal, { after = last, limit }: Page) {
      const query = { after, limit: limit + 1, own_node_id }
      const rows = db.durable ? await reportsStore.list(db, query) : []
      const items = rows.slice(0, limit).map((row) => reportOf(row, isAdmin(principal)))
      return page(items, rows.length > limit, 'report_id')
    },

    async report(principal: OperatorPrincipal, reportId: string) {
      return reportOf(await findReport(reportId), isAdmin(principal))
    },

    async windows(reportId: string) {
      const { report_id } = await findReport(reportId)
      return { report_id, ...windowsOf(await reportsStore.windows(db, report_id)) }
    },

    async captures(
      principal: OperatorPrincipal,
      {
        after = last,
        limit,
        ...filters
      }: Page & Pick<CaptureQuery, 'state' | 'match_id' | 'label'>,
    ) {
      await ownRowsWritten(deps.rows)
      const query = { ...filters, after, limit: limit + 1, own_node_id }
      const rows = db.durable ? await captureListStore.list(db, query) : []
      const items = rows.slice(0, limit).map((row) => captureOf(row, isAdmin(principal)))
      return page(items, rows.length > limit, 'capture_id')
    },

    async raw({ capture_id }: CaptureRow, { after = last, limit }: Page) {
      const rows = await artifactsStore.kept(db, { capture_id, after, limit: limit + 1 })
      return page(rows.slice(0, limit).map(artifactOf), rows.length > limit, 'handle')
    },

    async download(capture: CaptureRow, handle: string): Promise<FileAnswer> {
      const { raw } = await expectKept(capture, handle)
      const file = await raw.read(handle).catch(() => undefined)
      if (file === undefined) throw refuse.notFound('the file of a recording cannot be read')
      return new FileAnswer(file.bytes, file.open)
    },

    async deleteRaw(capture: CaptureRow, handle: string): Promise<void> {
      const { raw, artifact } = await expectKept(capture, handle)
      await removeRaw({ db, nodeId, raw }, artifact)
    },

    async regenerate(capture: CaptureRow, asked: Regenerate): Promise<Regenerated> {
      const queued = await enqueue(capture, asked)
      if (queued.state === 'busy') return { outcome: 'busy' }
      const { report_id } = queued
      if (queued.state === 'joined') return { outcome: 'joined', report_id }
      const reached = await awaited(report_id)
      if (reached === undefined) return { outcome: 'joined', report_id }
      return { outcome: reached === 'failed' ? 'failed' : 'complete', report_id }
    },

    /** The newest reports on a match. */
    ofMatch: reportsStore.ofMatch,
    countOfMatch: reportsStore.countOfMatch,
  }
}

type Kept = NonNullable<LagConsoleDeps['kept']> & { artifact: ArtifactRow }
type Enqueued = { state: 'joined' | 'queued'; report_id: string } | { state: 'busy' }

/** Forgets that the bytes are there, removes them, and then what is known of them. */
export async function removeRaw(
  { db, nodeId, raw }: { db: Database; nodeId: string; raw: Pick<RawStore, 'remove'> },
  { handle, compressed_bytes }: Pick<ArtifactRow, 'handle' | 'compressed_bytes'>,
): Promise<void> {
  const own = { handle, node_id: nodeId }
  await artifactsStore.markGone(db, own)
  await raw.remove(handle, compressed_bytes)
  await artifactsStore.remove(db, own)
}

function isAdmin(principal: OperatorPrincipal): boolean {
  return principal.kind === 'human' && principal.role === 'admin'
}

function artifactOf(row: ArtifactRow): LagArtifact {
  const { handle, generation, received_at_unix_ms, compressed_bytes, record_count } = row
  return { handle, generation, received_at_unix_ms, compressed_bytes, record_count }
}

function page<T>(items: T[], hasMore: boolean, id: keyof T & string) {
  const next = hasMore ? items.at(-1)?.[id] : undefined
  return typeof next === 'string' ? { items, next_after: next } : { items }
}

import type { LagOutcome } from '@guildhall/contract'
import type { Database } from '../../../database/database.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Ids } from '../../../kernel/ids.ts'
import { type AnalysisOptions, analyzerVersion, decoderVersion } from '../analysis/analyze.ts'
import { defaultMaxWindows, optionsHash } from '../analysis/options-hash.ts'
import { summaryOf } from '../analysis/spacings.ts'
import { type ServerSide, serverFacts } from '../captures/server-side.ts'
import type { Recording } from '../uploads/uploads.ts'
import { type ArtifactRow, artifactsStore } from './artifacts.store.ts'
import { type ReportRow, reportsStore } from './reports.store.ts'

export type PublishDeps = {
  db: Database
  clock: Clock
  ids: Pick<Ids, 'lagReportId'>
  nodeId: string
  /** A report waits for the analysis. */
  queued(): void
}

/** Stores a recording and its first report in one transaction. */
export function createPublish({ db, clock, ids, nodeId, queued }: PublishDeps) {
  return async (recording: Recording, expectConsent: () => void): Promise<void> => {
    const { capture, recorder, header, server } = recording
    const { spec, capture_id } = capture
    const nowUnixMs = Math.round(clock.nowUnixMs())
    const artifact: ArtifactRow = {
      handle: recording.handle,
      capture_id,
      generation: header.generation,
      participant: recorder.participant,
      node_id: nodeId,
      received_at_unix_ms: nowUnixMs,
      compressed_bytes: recording.compressed_bytes,
      record_count: header.record_count,
      available: true,
      server_json: server === null ? null : JSON.stringify(server),
    }
    const report = newReport(artifact, {
      report_id: ids.lagReportId(),
      label: spec.label,
      status: spec.analyze ? 'pending' : 'no_analysis',
      options: { send_rate_hz: spec.send_rate_hz, max_windows: defaultMaxWindows },
      nowUnixMs,
    })
    await db.transaction(async (tx) => {
      await artifactsStore.insert(tx, artifact)
      await reportsStore.insert(tx, report)
      expectConsent()
    })
    if (spec.analyze) queued()
  }
}

type NewReport = {
  report_id: string
  label: string | null
  status: Extract<LagOutcome, 'pending' | 'no_analysis'>
  options: AnalysisOptions
  nowUnixMs: number
}

/** The row of a report that has no result yet; the server's side needs no analysis. */
export function newReport(
  artifact: ArtifactRow,
  { report_id, label, status, options, nowUnixMs }: NewReport,
): ReportRow {
  const { capture_id, handle, generation, participant, node_id, server_json } = artifact
  return {
    report_id,
    capture_id,
    handle,
    generation,
    decoder_version: decoderVersion,
    analyzer_version: analyzerVersion,
    options_hash: optionsHash(options),
    ...options,
    status,
    node_id,
    participant,
    label,
    created_at_unix_ms: nowUnixMs,
    queued_at_unix_ms: nowUnixMs,
    runs: 0,
    server_json: serverSummaries(server_json, participant, options),
    result_json: null,
    windows_json: null,
  }
}

function serverSummaries(
  serverJson: string | null,
  participant: number,
  { send_rate_hz }: AnalysisOptions,
): string | null {
  if (serverJson === null) return null
  const side: ServerSide = JSON.parse(serverJson)
  const groups = side.toSorted((a, b) => b.records - a.records || a.kind - b.kind)
  return JSON.stringify(groups.map((it) => summaryOf(serverFacts(it, participant), send_rate_hz)))
}

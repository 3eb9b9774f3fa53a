import type { LagCapture, LagReport, LagWindow } from '@guildhall/contract'
import type { Analysis } from '../analysis/analyze.ts'
import type { ListedCapture } from './captures-list.store.ts'
import type { ShownReport } from './reports.store.ts'

/** What is stored of an analysis beside its windows. */
type StoredResult = Omit<Analysis, 'outcome' | 'windows' | 'windows_truncated' | 'quality'> & {
  quality: Analysis['quality'] | null
}
type StoredWindows = Pick<Analysis, 'windows' | 'windows_truncated'>

export function resultTexts(analysis: Analysis): { result_json: string; windows_json: string } {
  const { outcome: _, windows, windows_truncated, ...result } = analysis
  return {
    result_json: JSON.stringify(result satisfies StoredResult),
    windows_json: JSON.stringify({ windows, windows_truncated } satisfies StoredWindows),
  }
}

const noResult: StoredResult = {
  quality: null,
  summaries: [],
  truncated: false,
  started_at_unix_us: null,
  span_us: null,
  clock_uncertainty_us: null,
}

/** @param forAdmin whether it says if the bytes are kept */
export function reportOf(row: ShownReport, forAdmin: boolean): LagReport {
  const result: StoredResult = row.result_json === null ? noResult : JSON.parse(row.result_json)
  return {
    report_id: row.report_id,
    capture_id: row.capture_id,
    generation: row.generation,
    decoder_version: row.decoder_version,
    analyzer_version: row.analyzer_version,
    options_hash: row.options_hash,
    status: row.status,
    ...(forAdmin && { raw_available: row.raw_kept }),
    created_at_unix_ms: row.created_at_unix_ms,
    quality: result.quality,
    summaries: result.summaries,
    server: row.server_json === null ? null : JSON.parse(row.server_json),
    participant: row.participant,
    label: row.label,
    started_at_unix_us: result.started_at_unix_us,
    span_us: result.span_us,
    clock_uncertainty_us: result.clock_uncertainty_us,
    truncated: result.truncated,
  }
}

export function windowsOf(json: string | null): { windows: LagWindow[]; truncated: boolean } {
  if (json === null) return { windows: [], truncated: false }
  const { windows, windows_truncated }: StoredWindows = JSON.parse(json)
  return { windows, truncated: windows_truncated }
}

export function captureOf(row: ListedCapture, forAdmin: boolean): LagCapture {
  const { offered, recording, failed, flushing, uploaded, missed, gone } = row
  const { raw_kept, raw_count, raw_bytes, raw_latest_unix_ms } = row
  return {
    capture_id: row.capture_id,
    generation: row.generation,
    state: row.state,
    created_at_unix_ms: row.created_at_unix_ms,
    deadline_unix_ms: row.deadline_unix_ms,
    label: row.label,
    node_id: row.node_id,
    match_id: row.match_id,
    recorders: { offered, recording, failed, flushing, uploaded, missed, gone },
    report_count: row.report_count,
    latest_report_status: row.latest_report_status,
    ...(forAdmin && {
      raw_available: raw_kept > 0,
      raw_artifact_count: raw_count,
      raw_compressed_bytes: raw_bytes,
      latest_raw_received_at_unix_ms: raw_latest_unix_ms,
    }),
  }
}

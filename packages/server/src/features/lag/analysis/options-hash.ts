import { createHash } from 'node:crypto'
import type { AnalysisOptions } from './analyze.ts'

export const defaultMaxWindows = 64

/** Names what a report was asked for: SHA-256 of the options as JSON, sorted, without blanks. */
export function optionsHash({ send_rate_hz, max_windows }: AnalysisOptions): string {
  const canonical = JSON.stringify({ max_windows, send_rate_hz })
  return createHash('sha256').update(canonical).digest('hex')
}

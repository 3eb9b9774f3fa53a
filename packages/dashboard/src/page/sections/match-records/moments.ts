import type { ConsoleClient } from '@guildhall/client/console'
import { counted, grouped } from '../../../model/time.ts'
import type { Tone } from '../../kit/text/badge.tsx'
import { levelTones } from '../logs/log-lines.tsx'

export type Entries = Awaited<ReturnType<ConsoleClient['matchRecords']['entries']>>
type Moment = { key: string; at: number; tone: Tone; title: string; text: string }

/** What happened in a match in the order of time; lines of one millisecond as they were written. */
export function momentsOf({ record, logs, telemetry_slices }: Entries): Moment[] {
  const moments: Moment[] = [
    { key: 'open', at: record.opened_at_unix_ms, tone: 'ok', title: 'opened', text: '' },
    // They come newest first.
    ...logs.toReversed().map(
      ({ log_id, created_at_unix_ms, level, tag, message }): Moment => ({
        key: log_id,
        at: created_at_unix_ms,
        tone: levelTones[level],
        title: tag === '' ? level : `${level} ${tag}`,
        text: message,
      }),
    ),
    ...telemetry_slices.map(
      (slice): Moment => ({
        key: slice.report_id,
        at: slice.closed_at_unix_ms,
        tone: 'accent',
        title: `telemetry ${slice.context_kind}`,
        text:
          `${counted(slice.marker_total, 'marker')}, ${grouped(slice.accepted_total)} accepted, ` +
          `${grouped(slice.rejected_total)} rejected, ${grouped(slice.corrected_total)} corrected`,
      }),
    ),
  ]
  if (record.closed_at_unix_ms !== undefined) {
    const text = (record.termination_reason ?? '').replaceAll('_', ' ')
    moments.push({
      key: 'close',
      at: record.closed_at_unix_ms,
      tone: 'none',
      title: 'closed',
      text,
    })
  }
  return moments.toSorted((a, b) => a.at - b.at)
}

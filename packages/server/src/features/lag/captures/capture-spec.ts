import type { LagStart } from '@guildhall/contract'
import { refuse } from '../../../kernel/failure.ts'
import type { Filter } from '../analysis/records.ts'

/** The bounds of captures: the `lag_diagnostics` section of the configuration. */
export type CaptureBounds = {
  max_compressed_bytes: number
  max_decompressed_bytes: number
  max_active_captures: number
  max_participants: number
  max_duration_ms: number
  flush_window_ms: number
}

/** What a capture records, and what is done with it. */
export type CaptureSpec = {
  label: string | null
  filters: readonly Filter[]
  duration_ms: number
  /** Bound of the records of one recording, unpacked. */
  max_bytes: number
  analyze: boolean
  send_rate_hz: number | null
}

export const defaultMaxBytes = 4_194_304

/** @throws Failure `invalid_request` for options that are out of bounds */
export function readSpec(options: LagStart, bounds: CaptureBounds): CaptureSpec {
  const { participants, user_ids, room_id, filters, duration_ms } = options
  const given = [participants, user_ids, room_id].filter((whom) => whom !== undefined)
  if (given.length !== 1) {
    throw refuse.invalid('exactly one of participants, user_ids and room_id must be given')
  }
  const pairs = new Set(filters.map(({ kind, direction }) => `${kind} ${direction}`))
  if (pairs.size < filters.length) throw refuse.invalid('filters has the same pair twice')
  if (duration_ms > bounds.max_duration_ms) {
    throw refuse.invalid(`duration_ms must be 1000..${bounds.max_duration_ms}`)
  }
  const bytesMax = bounds.max_decompressed_bytes
  const max_bytes = options.max_bytes ?? Math.min(defaultMaxBytes, bytesMax)
  if (max_bytes > bytesMax) throw refuse.invalid(`max_bytes must be 65536..${bytesMax}`)
  return {
    label: options.label ?? null,
    filters,
    duration_ms,
    max_bytes,
    analyze: options.analyze ?? true,
    send_rate_hz: options.send_rate_hz ?? null,
  }
}

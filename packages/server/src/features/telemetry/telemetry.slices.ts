import type { SliceCloseReason } from '@guildhall/contract'
import type { Clock, Timer } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { SliceRow } from './telemetry.store.ts'

export type SlicesDeps = {
  clock: Clock
  ids: Pick<Ids, 'durable'>
  nodeId: string
  /** Called with every slice that is over. */
  closed(row: SliceRow): void
}

export type Outcome = 'accepted' | 'rejected' | 'corrected'

/** Where a script runs: in the room of a match, or without one. */
type Place = { match_id: string | null }

/** Slices of one node that are open at the same time. */
const activeMax = 32
const markersMax = 32
const lifeMs = 300_000

type Active = {
  match_id: string | null
  context_kind: string
  openedMs: number
  markers: number
  counts: Record<Outcome, number>
  timer: Timer
}

/**
 * The open telemetry slices of a node: one per match, and one for what runs without a match. The
 * text of markers is counted and forgotten.
 */
export function createSlices({ clock, ids, nodeId, closed }: SlicesDeps) {
  /** By match, in the order in which they were opened. */
  const active = new Map<string | null, Active>()

  function close(slice: Active | undefined, close_reason: SliceCloseReason): void {
    if (slice === undefined || !active.delete(slice.match_id)) return
    slice.timer.cancel()
    const { match_id, context_kind, markers, counts } = slice
    closed({
      report_id: ids.durable('ats1-'),
      match_id,
      node_id: nodeId,
      context_kind,
      close_reason,
      closed_at_unix_ms: clock.nowUnixMs(),
      duration_ms: Math.round(clock.monotonicMs() - slice.openedMs),
      marker_total: markers,
      truncated: close_reason === 'marker_cap',
      accepted_total: counts.accepted,
      rejected_total: counts.rejected,
      corrected_total: counts.corrected,
    })
  }

  return {
    /** Opens a slice at its place; the one before is closed. */
    begin({ match_id }: Place, context_kind = 'match'): void {
      close(active.get(match_id), 'restarted')
      const [oldest] = active.values()
      if (active.size >= activeMax) close(oldest, 'active_cap')
      const slice: Active = {
        match_id,
        context_kind,
        openedMs: clock.monotonicMs(),
        markers: 0,
        counts: { accepted: 0, rejected: 0, corrected: 0 },
        timer: clock.after(lifeMs, () => close(slice, 'ttl')),
      }
      active.set(match_id, slice)
    },
    /** Counts a marker in the open slice; one too many closes it and is not counted. */
    mark({ match_id }: Place, outcome?: Outcome): void {
      const slice = active.get(match_id)
      if (slice === undefined) return
      if (slice.markers >= markersMax) {
        close(slice, 'marker_cap')
        return
      }
      slice.markers += 1
      if (outcome !== undefined) slice.counts[outcome] += 1
    },
    finish({ match_id }: Place): void {
      close(active.get(match_id), 'finished')
    },
    /** Closes all, because the node stops. */
    finishAll(): void {
      for (const slice of [...active.values()]) close(slice, 'finished')
    },
  }
}

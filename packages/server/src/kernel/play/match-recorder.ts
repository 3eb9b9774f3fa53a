import type { TerminationReason } from '@guildhall/contract'
import type { Label, ScriptBinding } from './rooms.ts'

/**
 * Keeps the durable record of every match. Nothing here throws or waits: records are written
 * behind, and a database that fails never stops a room. A match that is not known is ignored.
 */
export type MatchRecorder = {
  /** A room was made; called once per match, before everything else about it. */
  opened(match: OpenedMatch): void
  /** Somebody was admitted: `join_total` grows by one, the peak is at least `members`. */
  admitted(matchId: string, members: number): void
  /** The label was set anew. */
  labelled(matchId: string, label: RecordedLabel): void
  /**
   * The script set the result, as JSON text of at most 4,096 bytes. May still come between `ended`
   * and `settled`; the last one counts.
   */
  result(matchId: string, resultJson: string): void
  /**
   * The room is over. The closing row is written within 250 ms after `settled`, which resolves when
   * `on_match_ended` has returned, has timed out or has lost its worker, and never rejects.
   */
  ended(matchId: string, ending: MatchEnding): void
}

export type RecordedLabel = Pick<Label, 'map' | 'mode' | 'max_players'>

export type OpenedMatch = {
  match_id: string
  room_id: number
  name: string | null
  label: RecordedLabel
  opened_at_unix_ms: number
  /** The script that the room keeps to; null where it keeps to none. */
  binding: ScriptBinding | null
}

export type MatchEnding = {
  termination_reason: TerminationReason
  closed_at_unix_ms: number
  settled: Promise<void>
}

/** Records nothing: for a database in memory. */
export const noMatchRecords: MatchRecorder = {
  opened() {},
  admitted() {},
  labelled() {},
  result() {},
  ended() {},
}

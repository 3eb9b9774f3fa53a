import type { LagSkip, LagStart } from '@guildhall/contract'
import type { RecordingPlayers } from '../../../kernel/play/recording.ts'
import { ScriptFailure } from '../../../kernel/play/script.ts'

export type Candidates = {
  recorders: { participant: number; session_id: string }[]
  skipped: LagSkip[]
  /** Of a capture that was started for a room. */
  match_id: string | null
}

type Asked = {
  players: RecordingPlayers
  participantsMax: number
  /** Whether the participant records for another capture. */
  isBusy(participant: number): boolean
}

/**
 * Who of those that are asked for can record.
 *
 * @throws ScriptFailure `not_found` when none can, `limit_exceeded` when too many are asked for
 */
export function findCandidates(options: LagStart, asked: Asked): Candidates {
  const { players } = asked
  const { match_id, participants } = whom(options, players)
  if (participants.length > asked.participantsMax) {
    throw new ScriptFailure('limit_exceeded', `at most ${asked.participantsMax} participants`)
  }
  const candidates: Candidates = { recorders: [], skipped: [], match_id }
  for (const participant of participants) {
    const known = players.find(participant)
    const { session_id = null } = known ?? {}
    const reason = reasonAgainst(known, asked.isBusy(participant))
    if (reason !== undefined) candidates.skipped.push({ participant, reason })
    else if (session_id !== null) candidates.recorders.push({ participant, session_id })
  }
  if (candidates.recorders.length === 0) {
    throw new ScriptFailure('not_found', 'there is nobody who can record')
  }
  return candidates
}

function whom({ participants, user_ids, room_id }: LagStart, players: RecordingPlayers) {
  if (room_id !== undefined) {
    const room = players.ofRoom(room_id)
    if (room === undefined) throw new ScriptFailure('not_found', 'there is no such room')
    return room
  }
  const ids = participants ?? (user_ids ?? []).flatMap(players.ofAccount)
  return { match_id: null, participants: [...new Set(ids)] }
}

function reasonAgainst(
  known: ReturnType<RecordingPlayers['find']>,
  isBusy: boolean,
): LagSkip['reason'] | undefined {
  if (known === undefined) return 'unknown'
  if (known.user_id === null) return 'guest'
  if (!known.canRecord) return 'not_capable'
  return isBusy ? 'busy' : undefined
}

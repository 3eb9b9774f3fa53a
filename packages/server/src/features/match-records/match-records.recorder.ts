import type { Clock } from '../../kernel/clock.ts'
import type { MatchRecorder, RecordedLabel } from '../../kernel/play/match-recorder.ts'
import type { RecordRow } from './match-records.store.ts'

export type RecorderDeps = {
  clock: Clock
  nodeId: string
  bootId: string
  /** Takes the newest state of a record. */
  write(row: RecordRow): void
  /** The hooks of the match have ended, and nothing more is recorded of it. */
  settled(matchId: string): void
}

type Ending = Pick<RecordRow, 'termination_reason' | 'closed_at_unix_ms'>

/** Counters, labels and results of matches that go on are written at most this often. */
const changesEveryMs = 10_000

/**
 * Keeps the records of the matches of this node in memory, and hands their newest state on: when a
 * match has opened, when its last hook has ended, and every 10 seconds while it changes.
 */
export function createMatchRecorder(deps: RecorderDeps): MatchRecorder & {
  /** The row as it is now, where the match goes on. */
  newest(row: RecordRow): RecordRow
} {
  const { clock, write } = deps
  const matches = new Map<string, RecordRow>()
  const changed = new Set<string>()
  let isDue = false

  function change(matchId: string, by: (row: RecordRow) => void): void {
    const row = matches.get(matchId)
    if (row === undefined) return
    by(row)
    changed.add(matchId)
    if (!isDue) clock.after(changesEveryMs, writeChanged)
    isDue = true
  }

  function writeChanged(): void {
    isDue = false
    for (const matchId of changed) {
      const row = matches.get(matchId)
      if (row !== undefined) write({ ...row })
    }
    changed.clear()
  }

  function finish(matchId: string, ending: Ending): void {
    const row = matches.get(matchId)
    matches.delete(matchId)
    changed.delete(matchId)
    if (row !== undefined) write({ ...row, ...ending })
    deps.settled(matchId)
  }

  return {
    opened({ match_id, room_id, name, label, opened_at_unix_ms, binding }) {
      const row: RecordRow = {
        match_id,
        node_id: deps.nodeId,
        boot_id: deps.bootId,
        room_id,
        name,
        ...labelOf(label),
        opened_at_unix_ms,
        closed_at_unix_ms: null,
        termination_reason: null,
        peak_participants: 0,
        join_total: 0,
        script_revision_id: binding?.revision_id ?? null,
        script_generation: binding?.generation ?? null,
        result_json: null,
      }
      matches.set(match_id, row)
      write({ ...row })
    },
    admitted(matchId, members) {
      change(matchId, (row) => {
        row.join_total += 1
        row.peak_participants = Math.max(row.peak_participants, members)
      })
    },
    labelled(matchId, label) {
      change(matchId, (row) => Object.assign(row, labelOf(label)))
    },
    result(matchId, resultJson) {
      change(matchId, (row) => {
        row.result_json = resultJson
      })
    },
    ended(matchId, { termination_reason, closed_at_unix_ms, settled }) {
      if (!matches.has(matchId)) return
      // What is written as closed never changes again, and the last hooks may still set a result.
      void settled.then(() => finish(matchId, { termination_reason, closed_at_unix_ms }))
    },
    newest: (row) => ({ ...(matches.get(row.match_id) ?? row) }),
  }
}

function labelOf({ map, mode, max_players }: RecordedLabel): RecordedLabel {
  return { map, mode, max_players }
}

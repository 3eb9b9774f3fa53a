import type { Queries } from '../../../database/database.ts'
import { statement } from '../../../database/statement.ts'
import {
  expectSame,
  expectThat,
  type Operation,
  operation,
  type Section,
  succeeded,
} from '../operation.ts'
import type { Random } from '../random.ts'
import { guestsCount, membersMax } from '../traffic/room-calls.ts'

const names = ['den', 'lobby', 'arena'] as const

/**
 * Guests that move between rooms. Records are written behind, so none is owed to anybody; but those
 * of a boot that is over are closed, and what is closed never changes.
 */
export function createMatchesSection({ random }: { random: Random }): Section {
  const busy = new Set<number>()
  const closed = new Map<string, StoredMatch>()
  let matches: StoredMatch[] = []
  let orphans: { match_id: string }[] = []

  function next(): Operation | undefined {
    const guest = random.below(guestsCount)
    if (busy.has(guest)) return undefined
    busy.add(guest)
    const room = random.chance(0.4) ? null : random.pick(names)
    return operation<object>({
      request: { method: 'ROOM', path: room ?? '', body: guest },
      heard: (answer) => (succeeded(answer, 200) ? {} : undefined),
      found: () => undefined,
      apply() {},
      release: () => void busy.delete(guest),
    })
  }

  return {
    weight: 4,
    next,
    async read(state: Queries) {
      matches = await state.all(matchRows, {})
      orphans = await state.all(orphanRows, {})
    },
    check() {
      expectSame(orphans, [], 'open matches of boots that are over')
      const known = new Set(matches.map(({ match_id }) => match_id))
      for (const id of closed.keys()) expectThat(known.has(id), `match ${id} is gone`)
      for (const match of matches) {
        const { match_id, peak_participants, join_total, closed_at_unix_ms } = match
        const before = closed.get(match_id)
        if (before !== undefined) expectSame(match, before, 'a match that is over')
        const counts = peak_participants <= Math.min(join_total, membersMax)
        expectThat(counts, `match ${match_id}: ${join_total} joins, peak ${peak_participants}`)
        if (closed_at_unix_ms !== null) closed.set(match_id, match)
      }
    },
  }
}

type StoredMatch = {
  match_id: string
  boot_id: string
  peak_participants: number
  join_total: number
  closed_at_unix_ms: number | null
  termination_reason: string | null
}

const matchRows = statement({
  name: 'crash.matches',
  text: `SELECT match_id, boot_id, peak_participants, join_total, closed_at_unix_ms,
      termination_reason
    FROM match_records`,
  row: {
    match_id: 'text',
    boot_id: 'text',
    peak_participants: 'integer',
    join_total: 'integer',
    closed_at_unix_ms: 'integer?',
    termination_reason: 'text?',
  },
})

/** Of the node that was started last, whose newest boot is the one that goes on. */
const orphanRows = statement({
  name: 'crash.orphans',
  text: `SELECT m.match_id FROM match_records m
    JOIN (SELECT node_id, boot_id FROM node_boots ORDER BY started_at_unix_ms DESC LIMIT 1) b
      ON b.node_id = m.node_id AND b.boot_id <> m.boot_id
    WHERE m.closed_at_unix_ms IS NULL`,
  row: { match_id: 'text' },
})

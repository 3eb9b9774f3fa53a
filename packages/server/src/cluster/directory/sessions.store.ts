import type { Database } from '../../database/database.ts'
import { batchStatement, eachEngine, statement } from '../../database/statement.ts'
import { clusterNumbers, clusterSeats, clusterSessions } from '../../database/tables/cluster.ts'
import { pick } from '../../database/tables/table.ts'
import type { SessionDirectory } from '../../kernel/cluster/directory.ts'

/** Where accounts are connected, and where seats wait for them. */
export function sessionDirectory(db: Database): SessionDirectory {
  return {
    async nextNumber() {
      const next = await db.get(nextNumber, {})
      if (next === undefined) throw new Error('there is no number for a connection')
      return next.number
    },
    writePlaces: ({ sessions, ended, seats, endedSeats }) =>
      db.transaction(
        async (tx) => {
          await tx.each(endSession, ended)
          await tx.each(endSeat, endedSeats)
          await tx.each(putSeat, seats)
          // In one order on every node, so that two nodes never wait for each other.
          const rows = sessions.toSorted((a, b) => (a.session_id < b.session_id ? -1 : 1))
          const written = await tx.each(putSession, rows)
          const replaced = written.flatMap(
            ({ session_id, replaced_boot_id: boot_id, replaced_participant: participant }) => {
              return boot_id === null || participant === null
                ? []
                : [{ session_id, boot_id, participant }]
            },
          )
          const isWritten = new Set(written.map(({ session_id }) => session_id))
          const older = rows.map(({ session_id }) => session_id).filter((id) => !isWritten.has(id))
          return { replaced, older }
        },
        { isolation: 'read committed' },
      ),
    async takeReplaced(boot_id) {
      const taken = await db.all(takeReplaced, { boot_id })
      return taken.flatMap(({ session_id, replaced_participant: participant }) =>
        participant === null ? [] : [{ session_id, boot_id, participant }],
      )
    },
    async placesOf(userIds) {
      const wanted = [...new Set(userIds)].map((user_id) => ({ user_id }))
      const [sessions, seats] = await Promise.all([
        db.each(sessionsOf, wanted),
        db.each(seatsOf, wanted),
      ])
      return { sessions, seats }
    },
  }
}

const sessionRow = pick(
  clusterSessions,
  'session_id',
  'user_id',
  'participant',
  'boot_id',
  'room_id',
  'number',
)
const seatRow = pick(clusterSeats, 'boot_id', 'participant', 'session_id', 'user_id', 'room_id')

/** On PostgreSQL without a row, so nobody waits for another one's commit. */
const nextNumber = statement({
  name: 'cluster.next-number',
  text: eachEngine((engine) =>
    engine === 'postgres'
      ? "SELECT nextval(pg_get_serial_sequence('cluster_numbers', 'number')) AS number"
      : 'INSERT OR REPLACE INTO cluster_numbers (one) VALUES (1) RETURNING number',
  ),
  params: {},
  row: pick(clusterNumbers, 'number'),
})

/**
 * The row itself keeps what it replaced, so that one statement does both. A connection that is
 * written late leaves the row of a newer one elsewhere as it is. So does one of the same number: a
 * node of a version without numbers has left that of the connection that it replaced.
 */
const putSession = batchStatement({
  name: 'cluster.put-session',
  text: `INSERT INTO cluster_sessions (session_id, user_id, participant, boot_id, room_id, number)
    {{given}} ON CONFLICT (session_id) DO UPDATE SET
      user_id = excluded.user_id, participant = excluded.participant,
      boot_id = excluded.boot_id, room_id = excluded.room_id, number = excluded.number,
      replaced_boot_id = CASE WHEN cluster_sessions.boot_id <> excluded.boot_id
        THEN cluster_sessions.boot_id ELSE cluster_sessions.replaced_boot_id END,
      replaced_participant = CASE WHEN cluster_sessions.boot_id <> excluded.boot_id
        THEN cluster_sessions.participant ELSE cluster_sessions.replaced_participant END
    WHERE cluster_sessions.number < excluded.number
      OR cluster_sessions.boot_id = excluded.boot_id
    RETURNING session_id, replaced_boot_id, replaced_participant`,
  params: sessionRow,
  row: pick(clusterSessions, 'session_id', 'replaced_boot_id', 'replaced_participant'),
})

const takeReplaced = statement({
  name: 'cluster.take-replaced',
  text: `UPDATE cluster_sessions SET replaced_boot_id = NULL WHERE replaced_boot_id = :boot_id
    RETURNING session_id, replaced_participant`,
  params: { boot_id: 'text' },
  row: pick(clusterSessions, 'session_id', 'replaced_participant'),
})

const endSession = batchStatement({
  name: 'cluster.end-session',
  text: `DELETE FROM cluster_sessions USING {{rows}} AS r
    WHERE cluster_sessions.session_id = r.session_id AND cluster_sessions.boot_id = r.boot_id
      AND cluster_sessions.participant = r.participant`,
  params: pick(clusterSessions, 'session_id', 'boot_id', 'participant'),
})

const putSeat = batchStatement({
  name: 'cluster.put-seat',
  text: `INSERT INTO cluster_seats (boot_id, participant, session_id, user_id, room_id,
      dropped_at_unix_ms)
    SELECT r.boot_id, r.participant, r.session_id, r.user_id, r.room_id, {{now}}
    FROM {{rows}} AS r WHERE true
    ON CONFLICT (boot_id, participant) DO UPDATE SET session_id = excluded.session_id,
      user_id = excluded.user_id, room_id = excluded.room_id,
      dropped_at_unix_ms = excluded.dropped_at_unix_ms`,
  params: seatRow,
})

const endSeat = batchStatement({
  name: 'cluster.end-seat',
  text: `DELETE FROM cluster_seats USING {{rows}} AS r
    WHERE cluster_seats.boot_id = r.boot_id AND cluster_seats.participant = r.participant`,
  params: pick(clusterSeats, 'boot_id', 'participant'),
})

const sessionsOf = batchStatement({
  name: 'cluster.sessions-of',
  text: `SELECT s.session_id, s.user_id, s.participant, s.boot_id, s.room_id, s.number
    FROM {{rows}} AS r JOIN cluster_sessions s ON s.user_id = r.user_id`,
  params: pick(clusterSessions, 'user_id'),
  row: sessionRow,
})

const seatsOf = batchStatement({
  name: 'cluster.seats-of',
  text: `SELECT s.boot_id, s.participant, s.session_id, s.user_id, s.room_id
    FROM {{rows}} AS r JOIN cluster_seats s ON s.user_id = r.user_id
    ORDER BY s.dropped_at_unix_ms`,
  params: pick(clusterSeats, 'user_id'),
  row: seatRow,
})

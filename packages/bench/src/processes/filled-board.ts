import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import type { Bench } from '../benchmark.ts'
import { startChild } from './child.ts'

type FilledBoard = {
  /** `sqlite:PATH`, or the URL of a database of PostgreSQL. */
  url: string
  records: number
  /** Whose tables they are; those of the one that is measured if not given. */
  checkout?: string | undefined
}

/** The board that is filled, which the script of `game-calls` knows as well. */
export const boardId = 'large'

/** A user of the board, as the product's own tests make them. */
export function ownerOf(number: number): string {
  return `user-${((number * 7919) % 4_294_967_291).toString(16).padStart(32, '0')}`
}

/**
 * Makes a descending board with so many records in a database that a checkout migrates. Records
 * come in no order of their scores, so the trees look as submissions leave them.
 */
export async function fillBoard(
  bench: Bench,
  { url, records, checkout = bench.checkout }: FilledBoard,
): Promise<void> {
  await migrateWith(bench, url, checkout)
  if (url.startsWith('sqlite:')) fillFile(pathOf(url), records)
  else await fillPostgres(url, records)
}

/** Copies a database file that nobody serves; answers the URL of the copy. */
export function copyOfFile(url: string, name: string): string {
  const copy = `${url}-${name}`
  copyFileSync(pathOf(url), pathOf(copy))
  return copy
}

function pathOf(url: string): string {
  return url.slice('sqlite:'.length)
}

async function migrateWith(bench: Bench, url: string, checkout: string): Promise<void> {
  const measured = pathToFileURL(join(checkout, 'packages/server/src/testing/measured/')).href
  const program = `
    import { openDeployment } from ${JSON.stringify(`${measured}deployment.ts`)}
    const { shared } = await openDeployment(${JSON.stringify({ url })})
    await shared.db.close()
    process.stdout.write('ready url=migrated\\n')
  `
  const { cores, folder: cwd } = bench
  const args = ['--input-type=module', '--eval', program, '{}']
  await (await startChild({ args, cwd, cores, on: 'both' })).stop()
}

function fillFile(path: string, records: number): void {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA cache_size = -524288; PRAGMA synchronous = OFF; BEGIN')
  const numbers = `WITH RECURSIVE numbers (n) AS
    (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${records})`
  const place = "unhex(printf('%016x', best - score) || printf('%016x', best) || hex(user_id))"
  const words = { user: "printf('user-%032x', id)", place, none: "x''", from: 'numbers' }
  for (const text of statementsOf(records, words)) {
    database.exec(text.includes('numbers') ? `${numbers} ${text}` : text)
  }
  database.exec('COMMIT')
  database.close()
}

async function fillPostgres(url: string, records: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const user = "'user-' || lpad(to_hex(id), 32, '0')"
    const place = "int8send(best - score) || int8send(best) || convert_to(user_id, 'UTF8')"
    const from = `generate_series(0::bigint, ${records - 1}) AS numbers (n)`
    const words = { user, place, none: "''::bytea", from }
    for (const text of statementsOf(records, words)) await client.query(text)
    await client.query('VACUUM (ANALYZE)')
    await client.query('CHECKPOINT')
  } finally {
    await client.end()
  }
}

type Words = {
  /** The name of the user with the number `id`. */
  user: string
  /** The place of a record of a descending board without a subscore. */
  place: string
  none: string
  /** The numbers `n` of all records, from 0. */
  from: string
}

const best = 2n ** 63n - 1n

function statementsOf(records: number, { user, place, none, from }: Words): string[] {
  const period = `(SELECT MAX(period) FROM leaderboard_periods)`
  return [
    `INSERT INTO leaderboard_periods (board_id) VALUES ('${boardId}')`,
    `INSERT INTO leaderboards (id, sort, operator, period, records, created_at_unix_ms)
      VALUES ('${boardId}', 'desc', 'set', ${period}, ${records}, 1)`,
    `INSERT INTO leaderboard_records
        (period, place, user_id, score, subscore, updated_at_unix_ms, submissions)
      SELECT ${period}, ${place}, user_id, score, 0, 1700000000000, 1
      FROM (SELECT ${best} AS best, score, ${user} AS user_id
        FROM (SELECT n * 104729 % 10000019 AS score, n * 7919 % 4294967291 AS id FROM ${from}) AS a
      ) AS b`,
    // As large as many submissions leave them, with bounds as short as theirs mostly are.
    `INSERT INTO leaderboard_blocks (period, level, bound, records)
      SELECT ${period}, level, CASE WHEN at = 0 THEN ${none}
          WHEN substr(place, 1, 8) <> substr(before, 1, 8) THEN substr(place, 1, 8)
          ELSE place END,
        CASE WHEN ${records} - at < size THEN ${records} - at ELSE size END
      FROM (SELECT place, LAG(place) OVER (ORDER BY place) AS before,
          ROW_NUMBER() OVER (ORDER BY place) - 1 AS at
        FROM leaderboard_records WHERE period = ${period}) AS placed
      JOIN (SELECT 1 AS level, 33 AS size UNION ALL SELECT 2, 1056
        UNION ALL SELECT 3, 33792) AS sizes ON at % size = 0`,
  ]
}

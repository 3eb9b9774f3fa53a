import { parseCron } from '@guildhall/contract'
import { type Check, defineCheck, rule } from '../../database/checks/check.ts'
import type { Queries } from '../../database/database.ts'
import { databaseNow } from '../../database/reads/stored-time.ts'
import { statement } from '../../database/statement.ts'

const periodId = (period: string) => `'period ' || CAST(${period} AS text)`

/** Of periods that still belong to a board; the others are being removed. */
const counted = `SELECT p.period,
    (SELECT COUNT(*) FROM leaderboard_records e WHERE e.period = p.period) AS records
  FROM leaderboard_periods p WHERE p.board_id IS NOT NULL`

/** The last block of a level goes up to `:beyond`, so that both ends of each are in the index. */
const blocks = `SELECT k.period, k.level, k.bound, k.records, COALESCE(
      LEAD(k.bound) OVER (PARTITION BY k.period, k.level ORDER BY k.bound), :beyond) AS until
  FROM leaderboard_blocks k
  JOIN leaderboard_periods p ON p.period = k.period AND p.board_id IS NOT NULL`

/** Behind every place: 16 bytes of a score, then a user id, whose UTF-8 has no such byte. */
const beyondPlaces = {
  params: { beyond: 'bytes' },
  values: { beyond: new Uint8Array(17).fill(0xff) },
} as const

const blockId = `${periodId('k.period')} || ' level ' || CAST(k.level AS text)`

const stored = defineCheck('boards', {
  tables: ['leaderboards', 'leaderboard_periods', 'leaderboard_records', 'leaderboard_blocks'],
  rules: [
    rule('boards.records', {
      rule: 'the record count of a board is the number of its records',
      text: `SELECT b.id FROM leaderboards b JOIN (${counted}) AS c ON c.period = b.period
        WHERE b.records <> c.records
        UNION ALL
        SELECT ${periodId('p.period')} FROM leaderboard_periods p
        JOIN (${counted}) AS c ON c.period = p.period
        WHERE p.closed_at_unix_ms IS NOT NULL AND p.records <> c.records`,
    }),
    rule('boards.users', {
      rule: 'a user has one record in a period',
      text: `SELECT ${periodId('e.period')} || ' ' || e.user_id AS id FROM leaderboard_records e
        GROUP BY e.period, e.user_id HAVING COUNT(*) > 1`,
    }),
    rule('boards.periods', {
      rule: 'a board has one live period, which is its newest',
      text: `SELECT b.id FROM leaderboards b
        LEFT JOIN leaderboard_periods p ON p.period = b.period
        WHERE p.period IS NULL OR p.board_id IS NULL OR p.board_id <> b.id
          OR p.closed_at_unix_ms IS NOT NULL
        UNION ALL
        SELECT ${periodId('p.period')} FROM leaderboard_periods p
        LEFT JOIN leaderboards b ON b.id = p.board_id
        WHERE p.board_id IS NOT NULL AND (b.id IS NULL OR p.period > b.period
          OR (p.period < b.period
            AND (p.closed_at_unix_ms IS NULL OR p.due_at_unix_ms IS NULL)))`,
    }),
    rule('boards.orphans', {
      rule: 'records and blocks belong to a period',
      text: `SELECT ${periodId('o.period')} AS id FROM (
          SELECT period FROM leaderboard_records UNION SELECT period FROM leaderboard_blocks) AS o
        LEFT JOIN leaderboard_periods p ON p.period = o.period WHERE p.period IS NULL`,
    }),
    rule('boards.blocks', {
      rule: 'a block counts the records from its bound up to the next',
      text: `SELECT ${blockId} AS id FROM (${blocks}) AS k
        WHERE k.records <> (SELECT COUNT(*) FROM leaderboard_records e
          WHERE e.period = k.period AND e.place >= k.bound AND e.place < k.until)`,
      ...beyondPlaces,
    }),
    rule('boards.bounds', {
      rule: 'a period has a first block of each level, and bounds of a level are bounds below it',
      text: `SELECT ${periodId('p.period')} AS id FROM leaderboard_periods p
        WHERE p.board_id IS NOT NULL AND (SELECT COUNT(*) FROM leaderboard_blocks k
          WHERE k.period = p.period AND length(k.bound) = 0) <> 3
        UNION ALL
        SELECT ${blockId} FROM (${blocks}) AS k
        LEFT JOIN leaderboard_blocks o
          ON o.period = k.period AND o.level = k.level - 1 AND o.bound = k.bound
        WHERE k.level > 1 AND o.period IS NULL`,
      ...beyondPlaces,
    }),
  ],
})

const cursors = statement({
  name: 'doctor.boards.cursors',
  text: `SELECT id, reset_schedule, next_due_at_unix_ms FROM leaderboards
    WHERE reset_schedule IS NOT NULL OR next_due_at_unix_ms IS NOT NULL ORDER BY id`,
  row: { id: 'text', reset_schedule: 'text?', next_due_at_unix_ms: 'integer?' },
})

/** @param executesResets `leaderboards.execute_reset_schedules` */
export function createBoardsCheck(executesResets: boolean): Check {
  return {
    name: stored.name,
    async examine(state, examplesMax) {
      const finding = await stored.examine(state, examplesMax)
      const rule = 'a board has a cursor exactly when its schedule is executed'
      const broken = await brokenCursors(state, executesResets)
      const examples = broken.map((id) => ({ rule, id }))
      return {
        rows: finding.rows,
        violations: finding.violations + broken.length,
        examples: [...finding.examples, ...examples].slice(0, examplesMax),
      }
    },
  }
}

/** Only code can say what is a schedule. */
async function brokenCursors(state: Queries, executesResets: boolean): Promise<string[]> {
  const nowUnixMs = await databaseNow(state)
  const boards = await state.all(cursors, {})
  return boards.flatMap(({ id, reset_schedule, next_due_at_unix_ms }) => {
    const next = parseCron(reset_schedule ?? '')?.next(nowUnixMs)
    const isExecuted = executesResets && next !== undefined
    return isExecuted === (next_due_at_unix_ms !== null) ? [] : [id]
  })
}

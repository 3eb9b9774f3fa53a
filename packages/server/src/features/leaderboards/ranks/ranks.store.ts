import type { Database, Queries } from '../../../database/database.ts'
import {
  type Engine,
  eachEngine,
  lookup,
  type Row,
  statement,
} from '../../../database/statement.ts'
import { recordNames, recordRow } from '../leaderboards.store.ts'
import { boundAt } from './blocks.store.ts'

const recordsOfE = recordNames.map((name) => `e.${name}`).join(', ')

/** Records of the blocks of a level that lie before a bound, from the bound of the level above. */
function sumBefore(level: number, { from, until }: { from?: string; until: string }): string {
  const start = from === undefined ? '' : `AND k.bound >= ${from}`
  return `(SELECT COALESCE(SUM(k.records), 0) FROM leaderboard_blocks k
    WHERE k.period = e.period AND k.level = ${level} ${start} AND k.bound < ${until})`
}

/** The columns of a record `e` together with the bounds of the blocks that count it. */
const placedRecord = `e.period, e.place, ${recordsOfE}, ${boundAt(3, 'e')} AS top,
  ${boundAt(2, 'e')} AS mid, ${boundAt(1, 'e')} AS low`

/** The rank of a placed record: what the blocks before its own count, and the records before it. */
const rankOfE = `CAST(1 + ${sumBefore(3, { until: 'e.top' })}
  + ${sumBefore(2, { from: 'e.top', until: 'e.mid' })}
  + ${sumBefore(1, { from: 'e.mid', until: 'e.low' })}
  + (SELECT COUNT(*) FROM leaderboard_records o
    WHERE o.period = e.period AND o.place >= e.low AND o.place < e.place) AS bigint)`

/** So many boards of one owner are looked at. */
const boardsMax = 1000

const owner = { board_id: 'text', user_id: 'text' } as const

const ranked = lookup({
  name: 'leaderboards.ranked-record',
  text: `WITH e AS MATERIALIZED (SELECT o.board_id, ${placedRecord}
      FROM (SELECT r.board_id, b.period, r.user_id FROM {{rows}} AS r
        JOIN leaderboards b ON b.id = r.board_id {{fence}}) AS o
      JOIN leaderboard_records e ON e.period = o.period AND e.user_id = o.user_id)
    SELECT e.board_id, ${recordsOfE}, ${rankOfE} AS rank FROM e`,
  params: owner,
  row: { ...owner, ...recordRow, rank: 'integer' },
})

const wanted = { board_id: 'text', owner_id: 'text', before: 'integer', after: 'integer' } as const
const wantedNames = Object.keys(wanted)
const aroundRow = { ...wanted, ...recordRow, is_before: 'flag', owner_rank: 'integer' } as const
export type AroundRow = Row<typeof aroundRow>

/** The records beside each owner `w`, from the owner on. */
function beside(engine: Engine, { range, limit }: { range: string; limit: string }): string {
  const of = (name: string) => (engine === 'postgres' ? `w.${name}` : `(SELECT ${name} FROM owner)`)
  return `FROM owner w CROSS JOIN {{lateral}} (
    SELECT e.* FROM leaderboard_records e
    WHERE e.period = ${of('period')} AND e.place ${range.replace('?', of('place'))}
    LIMIT ${limit.replace('?', engine === 'postgres' ? 'w.' : ':')}) AS e`
}

/** One statement, so that the rank of the owner and the records beside it are of one moment. */
const around = lookup({
  name: 'leaderboards.around',
  text: eachEngine((engine) => {
    const asked = (row: string) => wantedNames.map((name) => `${row}.${name}`).join(', ')
    const columns = `${asked('w')}, ${recordsOfE}`
    return `WITH e AS MATERIALIZED (SELECT ${asked('o')}, ${placedRecord}
      FROM (SELECT ${asked('r')}, b.period FROM {{rows}} AS r
        JOIN leaderboards b ON b.id = r.board_id {{fence}}) AS o
      JOIN leaderboard_records e ON e.period = o.period AND e.user_id = o.owner_id),
    owner AS MATERIALIZED (SELECT ${asked('e')}, e.period, e.place, ${rankOfE} AS rank FROM e)
    SELECT ${columns}, 1 AS is_before, w.rank AS owner_rank
    ${beside(engine, { range: '< ? ORDER BY e.place DESC', limit: '?before' })}
    UNION ALL
    SELECT ${columns}, 0, w.rank
    ${beside(engine, { range: '>= ? ORDER BY e.place', limit: '?after + 1' })}`
  }),
  params: wanted,
  row: aroundRow,
})

/** One step in the index of each board. */
const boardsOf = statement({
  name: 'leaderboards.boards-of',
  text: `SELECT b.id AS board_id FROM leaderboards b
    JOIN leaderboard_records r ON r.period = b.period AND r.user_id = :user_id
    ORDER BY b.id LIMIT ${boardsMax}`,
  params: { user_id: 'text' },
  row: { board_id: 'text' },
  long: true,
})

const exists = statement({
  name: 'leaderboards.exists',
  text: 'SELECT id FROM leaderboards WHERE id = :id',
  params: { id: 'text' },
  row: { id: 'text' },
})

/** Reads of ranks. Each is one statement, so what it answers held at one moment. */
export const ranksStore = {
  ranked,
  /** The records of these owners with their ranks, as of one moment. */
  rankedAll: (tx: Queries, owners: readonly Row<typeof owner>[]) => tx.each(ranked, owners),
  /** The first boards that have a record of an owner. */
  boardsOf: (tx: Queries, user_id: string) => tx.all(boardsOf, { user_id }),
  /** In no order; those before the owner and those from the owner on, in a row. */
  around: (db: Database, asked: Row<typeof wanted>) => db.findAll(around, asked),
  exists: async (tx: Queries, id: string) => (await tx.get(exists, { id })) !== undefined,
}

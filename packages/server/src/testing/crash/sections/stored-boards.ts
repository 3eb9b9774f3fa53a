import type { Queries } from '../../../database/database.ts'
import { statement } from '../../../database/statement.ts'
import { expectSame } from '../operation.ts'

/** A board as the model has it. */
export type Board = {
  id: string
  sort: 'asc' | 'desc'
  operator: 'best' | 'set' | 'incr'
  records: Map<string, BoardRecord>
  /** Its end is under way. */
  ending: boolean
}

/** There is a record from the first submission on. */
export type BoardRecord = {
  score: number
  submissions: number
  /** Requests about it that have no answer yet. */
  underWay: number
  ending: boolean
}

/** What the store says of boards, their records and the blocks that count them. */
export function createStoredBoards() {
  let boards: StoredBoard[] = []
  let records: StoredRecord[] = []
  let blocks: StoredBlocks[] = []
  return {
    ids: () => boards.map(({ id }) => id),
    board: (id: string) => boards.find((board) => board.id === id),
    recordsOf: (period: number) => records.filter((record) => record.period === period),
    blocksOf: (period: number) => blocks.filter((block) => block.period === period),
    async read(state: Queries): Promise<void> {
      boards = await state.all(boardRows, {})
      records = await state.all(recordRows, {})
      blocks = await state.all(blockRows, {})
    },
  }
}

/** Throws when a board is not what the model says, or its numbers do not fit each other. */
export function checkBoard(board: Board, stored: ReturnType<typeof createStoredBoards>): void {
  const { id, sort, operator } = board
  const row = stored.board(id)
  const records = row === undefined ? [] : stored.recordsOf(row.period)
  const noted = [...board.records]
    .filter(([, { submissions }]) => submissions > 0)
    .map(([user_id, { score, submissions }]) => [user_id, score, submissions])
  const inStore = records.map(({ user_id, score, submissions }) => [user_id, score, submissions])
  expectSame(inStore.sort(), noted.sort(), `the records of ${id}`)
  const { period, ...rest } = row ?? { period: 0 }
  expectSame(rest, { id, sort, operator, records: noted.length }, `the board ${id}`)
  for (const { level, counted } of stored.blocksOf(period)) {
    expectSame(counted, noted.length, `the records in the blocks of ${id} at level ${level}`)
  }
}

type StoredBoard = { id: string; sort: string; operator: string; period: number; records: number }
type StoredRecord = { period: number; user_id: string; score: number; submissions: number }
type StoredBlocks = { period: number; level: number; counted: number }

const boardRows = statement({
  name: 'crash.boards',
  text: 'SELECT id, sort, operator, period, records FROM leaderboards',
  row: { id: 'text', sort: 'text', operator: 'text', period: 'integer', records: 'integer' },
})

const recordRows = statement({
  name: 'crash.records',
  text: 'SELECT period, user_id, score, submissions FROM leaderboard_records',
  row: { period: 'integer', user_id: 'text', score: 'integer', submissions: 'integer' },
})

const blockRows = statement({
  name: 'crash.blocks',
  text: `SELECT period, level, CAST(SUM(records) AS bigint) AS counted FROM leaderboard_blocks
    GROUP BY period, level`,
  row: { period: 'integer', level: 'integer', counted: 'integer' },
})

import { LeaderboardRecord, leaderboardsApi } from '@guildhall/contract'
import type { Caller } from '../../api.ts'
import { expectSame, type Operation, operation, type Section, succeeded } from '../operation.ts'
import type { Random } from '../random.ts'
import { type Board, type BoardRecord, checkBoard, createStoredBoards } from './stored-boards.ts'
import type { Entry, Trail } from './trail.ts'

type Deps = { trail: Trail; random: Random; mark(kind: string): string }

const boardsMax = 4
const path = '/console/v1/leaderboards'

/**
 * Boards and submissions to them: of sums and best scores the order does not matter, so many come
 * at the same time; what is set comes one after another for each user.
 */
export function createLeaderboardsSection(deps: Deps): Section {
  const { random } = deps
  const boards = new Map<string, Board>()
  const stored = createStoredBoards()
  const operations = createOperations(deps, boards, stored)

  function next(): Operation | undefined {
    if (boards.size < boardsMax) return operations.create()
    const board = random.pick([...boards.values()].filter(({ ending }) => !ending))
    if (board === undefined) return undefined
    const idle = [...board.records.values()].every(({ underWay }) => underWay === 0)
    if (idle && random.chance(0.02)) return operations.delete(board)
    const user_id = `user-${random.below(10)}`
    const record = board.records.get(user_id) ?? newRecord()
    board.records.set(user_id, record)
    const isAlone = record.underWay === 0
    if (record.ending || (board.operator === 'set' && !isAlone)) return undefined
    if (isAlone && record.submissions > 0 && random.chance(0.1)) {
      return operations.deleteRecord(board, user_id, record)
    }
    return operations.submit(board, user_id, record)
  }

  return {
    weight: 5,
    next,
    read: stored.read,
    check() {
      expectSame([...stored.ids()].sort(), [...boards.keys()].sort(), 'the boards')
      for (const board of boards.values()) checkBoard(board, stored)
    },
    async probe(call: Caller, token: string) {
      for (const board of boards.values()) await checkRanks(board, { call, token })
    },
  }
}

function newRecord(): BoardRecord {
  return { score: 0, submissions: 0, underWay: 0, ending: false }
}

function createOperations(
  { trail, random, mark }: Deps,
  boards: Map<string, Board>,
  stored: ReturnType<typeof createStoredBoards>,
) {
  let scores = 0

  return {
    create(): Operation {
      const id = mark('board')
      const operator = random.pick(['best', 'set', 'incr'] as const) ?? 'best'
      const sort = random.pick(['asc', 'desc'] as const) ?? 'desc'
      return operation<object>({
        request: { method: 'POST', path, body: { id, operator, sort } },
        heard: (answer) => (succeeded(answer, 201) ? {} : undefined),
        found: () => (stored.board(id) === undefined ? undefined : {}),
        apply() {
          boards.set(id, { id, operator, sort, records: new Map(), ending: false })
          const details = `sort=${sort} operator=${operator}`
          trail.expect({ action: 'leaderboards.create', target: id, details })
        },
      })
    },

    delete(board: Board): Operation {
      board.ending = true
      const records = [...board.records.values()].filter(({ submissions }) => submissions > 0)
      const entry: Entry = {
        action: 'leaderboards.delete',
        target: board.id,
        details: `records=${records.length}`,
      }
      return operation<object>({
        request: { method: 'DELETE', path: `${path}/${board.id}` },
        heard: (answer) => (succeeded(answer, 204) ? {} : undefined),
        found: () => (trail.has(entry) ? {} : undefined),
        apply() {
          boards.delete(board.id)
          trail.expect(entry)
        },
        release() {
          board.ending = false
        },
      })
    },

    submit(board: Board, user_id: string, record: BoardRecord): Operation {
      // No two submissions have the same score, so the trail distinguishes them.
      scores += 1
      const score = random.below(1000) * 100_000 + scores
      const entry: Entry = {
        action: 'leaderboards.record.submit',
        target: `${board.id}/${user_id}`,
        details: `score=${score} subscore=0`,
      }
      record.underWay += 1
      return operation<object>({
        request: { method: 'POST', path: `${path}/${board.id}/records`, body: { user_id, score } },
        heard(answer) {
          if (!succeeded(answer, 200)) return undefined
          return LeaderboardRecord().parse(answer.body)
        },
        found: () => (trail.has(entry) ? {} : undefined),
        apply() {
          record.score = record.submissions === 0 ? score : combined(board, record.score, score)
          record.submissions += 1
          trail.expect(entry)
        },
        release() {
          record.underWay -= 1
        },
      })
    },

    deleteRecord(board: Board, user_id: string, record: BoardRecord): Operation {
      const target = `${board.id}/${user_id}`
      const entry: Entry = { action: 'leaderboards.record.delete', target, details: 'deleted' }
      record.underWay += 1
      record.ending = true
      return operation<object>({
        request: { method: 'DELETE', path: `${path}/${board.id}/records/${user_id}` },
        heard: (answer) => (succeeded(answer, 204) ? {} : undefined),
        found: () => (trail.has(entry) ? {} : undefined),
        apply() {
          Object.assign(record, { score: 0, submissions: 0 })
          trail.expect(entry)
        },
        release() {
          record.underWay -= 1
          record.ending = false
        },
      })
    },
  }
}

/** What a further submission makes of a score. */
function combined({ operator, sort }: Board, held: number, submitted: number): number {
  if (operator === 'set') return submitted
  if (operator === 'incr') return held + submitted
  return sort === 'asc' ? Math.min(held, submitted) : Math.max(held, submitted)
}

/** Every record at its rank. */
async function checkRanks(
  { id, sort, records }: Board,
  { call, token }: { call: Caller; token: string },
): Promise<void> {
  const answer = await call('GET', `${path}/${id}/records`, { token })
  const { items } = leaderboardsApi.records.ok.parse(answer.body)
  const ranked = items.map(({ rank, user_id, score }) => [rank, user_id, Number(score)])
  const direction = sort === 'asc' ? 1 : -1
  const noted = [...records]
    .filter(([, { submissions }]) => submissions > 0)
    .map(([user_id, { score }]) => ({ user_id, score }))
    .toSorted((a, b) => direction * (a.score - b.score) || (a.user_id < b.user_id ? -1 : 1))
    .map(({ user_id, score }, at) => [at + 1, user_id, score])
  expectSame(ranked, noted, `the ranks of ${id}`)
}

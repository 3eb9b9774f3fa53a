import { z } from 'zod'
import {
  boardId as board,
  Leaderboard,
  LeaderboardRecord,
  NewBoard,
  RankedRecord,
  Submission,
  recordUserId as user_id,
} from '../shapes/leaderboards.ts'
import { optional } from '../values/fields.ts'
import { keptObject, options, pageLimit, pageOffset, raw } from './fields.ts'
import { defineScriptApi } from './script-api.ts'

const metadata = optional(keptObject)
const neighbours = z.int().min(0).max(500)

const trusted = { tier: 'trusted', runs: 'node' } as const
/** For answers that are handed on. */
const handedOn = { raw: true, ...trusted } as const

export const leaderboardsScript = defineScriptApi({
  'leaderboards.list': {
    doc: 'All boards by id.',
    args: () => ({ options: options({ raw }) }),
    ok: () => z.array(Leaderboard()),
    ...handedOn,
  },
  'leaderboards.create': {
    doc: 'Opens a board; the best score counts by default. Resets need execute_reset_schedules.',
    args: () => ({ board: NewBoard() }),
    ok: Leaderboard,
    errors: ['conflict'],
    ...trusted,
  },
  'leaderboards.delete': {
    doc: 'Ends a board and all its records; false if there was none. Its tournaments stay.',
    args: () => ({ board }),
    ok: () => z.boolean(),
    ...trusted,
  },
  'leaderboards.submit': {
    doc: 'Submits a score under the rule of the board, and returns the record that counts now.',
    example: ["await guildhall.leaderboards.submit('weekly', ctx.user_id, 1200)"],
    args: () => {
      const { score, subscore } = Submission().shape
      return { board, user_id, score, options: options({ subscore, metadata }) }
    },
    ok: LeaderboardRecord,
    errors: ['not_found'],
    ...trusted,
  },
  'leaderboards.get': {
    doc: 'The record of a user with its rank, or null.',
    args: () => ({ board, user_id, options: options({ raw }) }),
    ok: () => RankedRecord().nullable(),
    errors: ['not_found'],
    ...handedOn,
  },
  'leaderboards.records': {
    doc: 'Records by rank; total is the number of all.',
    example: [
      "guildhall.on_rpc('top', () =>",
      "  guildhall.leaderboards.records('weekly', { limit: 100, raw: true }))",
    ],
    args: () => ({
      board,
      options: options({ limit: pageLimit({ default: 50, cap: 500 }), offset: pageOffset, raw }),
    }),
    ok: () => z.strictObject({ total: z.int(), items: z.array(RankedRecord()) }),
    errors: ['not_found'],
    ...handedOn,
  },
  'leaderboards.remove': {
    doc: "Removes a user's record; false if there was none.",
    args: () => ({ board, user_id }),
    ok: () => z.boolean(),
    errors: ['not_found'],
    ...trusted,
  },
  'leaderboards.around': {
    doc: "A user's record between those that rank right before and after it.",
    args: () => ({
      board,
      user_id,
      before: neighbours,
      after: neighbours,
      options: options({ raw }),
    }),
    ok: () => z.array(RankedRecord()),
    errors: ['not_found'],
    ...handedOn,
  },
  'leaderboards.of_users': {
    doc: 'The records of up to 100 users by rank; users without one are left out.',
    args: () => ({ board, user_ids: z.array(user_id).max(100), options: options({ raw }) }),
    ok: () => z.array(RankedRecord()),
    errors: ['not_found'],
    ...handedOn,
  },
})

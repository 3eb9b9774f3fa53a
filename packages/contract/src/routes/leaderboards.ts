import { z } from 'zod'
import { freeObject, key, limit, optional, reference, unixMs } from '../values/fields.ts'
import { int64, offset } from '../values/numbers.ts'
import { defineApi } from './route.ts'

/** Which score is the better one: the smaller or the larger. */
export const boardSorts = ['asc', 'desc'] as const
export type BoardSort = (typeof boardSorts)[number]

/** What a further submission of a user does to the record that there is. */
export const boardOperators = ['best', 'set', 'incr'] as const
export type BoardOperator = (typeof boardOperators)[number]

export const Leaderboard = z.strictObject({
  id: z.string(),
  sort: z.enum(boardSorts),
  operator: z.enum(boardOperators),
  reset_schedule: z.string().nullable().meta({ description: 'As it was given' }),
  records: z.int().min(0),
})
export type Leaderboard = z.output<typeof Leaderboard>

export const LeaderboardRecord = z.strictObject({
  user_id: z.string(),
  score: int64,
  subscore: int64,
  metadata: freeObject.nullable(),
  updated_at_unix_ms: unixMs.meta({ description: 'When the score was last set' }),
  submissions: z.int().min(1).meta({ description: 'Counts every submission, also one that lost' }),
})
export type LeaderboardRecord = z.output<typeof LeaderboardRecord>

export const RankedRecord = z.strictObject({
  rank: z.int().min(1).meta({ description: 'From 1, over the whole board' }),
  ...LeaderboardRecord.shape,
})
export type RankedRecord = z.output<typeof RankedRecord>

/** A board's id: 1..128 bytes without control characters. */
export const boardId = key(128)
/** Whose record it is: 1..256 bytes without control characters; it need not be an account. */
const recordUserId = key(256)

const boardPath = z.strictObject({ id: boardId })

export const leaderboardsApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/leaderboards',
    access: 'operator',
    scope: 'leaderboards:read',
    summary: 'All boards by id',
    ok: z.strictObject({ items: z.array(Leaderboard), total: z.int().min(0) }),
  },
  create: {
    method: 'POST',
    path: '/console/v1/leaderboards',
    access: 'admin',
    audit: 'leaderboards.create',
    summary: 'Opens a board; without words about it, the highest score of each user counts',
    body: z.strictObject({
      id: boardId,
      sort: optional(z.enum(boardSorts)),
      operator: optional(z.enum(boardOperators)),
      reset_schedule: optional(reference(1024)),
    }),
    ok: Leaderboard,
    status: 201,
    errors: ['conflict'],
  },
  delete: {
    method: 'DELETE',
    path: '/console/v1/leaderboards/{id}',
    access: 'admin',
    audit: 'leaderboards.delete',
    summary: 'Ends a board and all its records; its tournaments stay',
    params: boardPath,
    errors: ['not_found'],
  },
  submit: {
    method: 'POST',
    path: '/console/v1/leaderboards/{id}/records',
    access: 'admin',
    audit: 'leaderboards.record.submit',
    summary: 'Submits a score for a user under the rule of the board',
    params: boardPath,
    body: z.strictObject({
      user_id: recordUserId,
      score: int64,
      subscore: optional(int64),
      metadata: optional(freeObject),
    }),
    ok: LeaderboardRecord,
    errors: ['not_found'],
  },
  records: {
    method: 'GET',
    path: '/console/v1/leaderboards/{id}/records',
    access: 'operator',
    scope: 'leaderboards:read',
    summary: 'Records by rank; total is the number of all',
    params: boardPath,
    query: z.strictObject({ limit: limit({ default: 50, cap: 500 }), offset }),
    ok: z.strictObject({
      board: z.string(),
      total: z.int().min(0),
      items: z.array(RankedRecord),
    }),
    errors: ['not_found'],
  },
  ranks: {
    method: 'GET',
    path: '/console/v1/accounts/{id}/ranks',
    access: 'operator',
    scope: 'leaderboards:read',
    summary: 'Where a user stands on the boards that have a record of it, by board',
    params: z.strictObject({ id: recordUserId }),
    ok: z.strictObject({
      items: z.array(z.strictObject({ board: z.string(), ...RankedRecord.shape })),
    }),
  },
  deleteRecord: {
    method: 'DELETE',
    path: '/console/v1/leaderboards/{id}/records/{user_id}',
    access: 'admin',
    audit: 'leaderboards.record.delete',
    summary: "Removes a user's record",
    params: z.strictObject({ id: boardId, user_id: recordUserId }),
    errors: ['not_found'],
  },
})

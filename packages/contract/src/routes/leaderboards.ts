import { z } from 'zod'
import {
  boardId,
  Leaderboard,
  LeaderboardRecord,
  NewBoard,
  RankedRecord,
  recordUserId,
  Submission,
} from '../shapes/leaderboards.ts'
import { limit } from '../values/fields.ts'
import { offset } from '../values/numbers.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

const boardPath = once(() => z.strictObject({ id: boardId }))

export const leaderboardsApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/leaderboards',
    access: 'operator',
    scope: 'leaderboards:read',
    summary: 'All boards by id',
    ok: () => z.strictObject({ items: z.array(Leaderboard()), total: z.int().min(0) }),
  },
  create: {
    method: 'POST',
    path: '/console/v1/leaderboards',
    access: 'admin',
    audit: 'leaderboards.create',
    summary: 'Opens a board; without words about it, the highest score of each user counts',
    body: NewBoard,
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
    body: Submission,
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
    query: () => z.strictObject({ limit: limit({ default: 50, cap: 500 }), offset }),
    ok: () =>
      z.strictObject({
        board: z.string(),
        total: z.int().min(0),
        items: z.array(RankedRecord()),
      }),
    errors: ['not_found'],
  },
  ranks: {
    method: 'GET',
    path: '/console/v1/accounts/{id}/ranks',
    access: 'operator',
    scope: 'leaderboards:read',
    summary: 'Where a user stands on the boards that have a record of it, by board',
    params: () => z.strictObject({ id: recordUserId }),
    ok: () =>
      z.strictObject({
        items: z.array(z.strictObject({ board: z.string(), ...RankedRecord().shape })),
      }),
  },
  deleteRecord: {
    method: 'DELETE',
    path: '/console/v1/leaderboards/{id}/records/{user_id}',
    access: 'admin',
    audit: 'leaderboards.record.delete',
    summary: "Removes a user's record",
    params: () => z.strictObject({ id: boardId, user_id: recordUserId }),
    errors: ['not_found'],
  },
})

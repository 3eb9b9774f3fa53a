import { z } from 'zod'
import { freeObject, key, optional, reference, unixMs } from '../values/fields.ts'
import { int64 } from '../values/numbers.ts'
import { once } from '../values/once.ts'

/** Which score is the better one: the smaller or the larger. */
export const boardSorts = ['asc', 'desc'] as const
export type BoardSort = (typeof boardSorts)[number]

/** What a further submission of a user does to the record that there is. */
export const boardOperators = ['best', 'set', 'incr'] as const
export type BoardOperator = (typeof boardOperators)[number]

export const Leaderboard = once(() =>
  z.strictObject({
    id: z.string(),
    sort: z.enum(boardSorts),
    operator: z.enum(boardOperators),
    reset_schedule: z.string().nullable().meta({ description: 'As it was given' }),
    records: z.int().min(0),
  }),
)
export type Leaderboard = z.output<ReturnType<typeof Leaderboard>>

export const LeaderboardRecord = once(() =>
  z.strictObject({
    user_id: z.string(),
    score: int64,
    subscore: int64,
    metadata: freeObject.nullable(),
    updated_at_unix_ms: unixMs.meta({ description: 'When the score was last set' }),
    submissions: z
      .int()
      .min(1)
      .meta({ description: 'Counts every submission, also one that lost' }),
  }),
)
export type LeaderboardRecord = z.output<ReturnType<typeof LeaderboardRecord>>

export const RankedRecord = once(() =>
  z.strictObject({
    rank: z.int().min(1).meta({ description: 'From 1, over the whole board' }),
    ...LeaderboardRecord().shape,
  }),
)
export type RankedRecord = z.output<ReturnType<typeof RankedRecord>>

/** A board's id: 1..128 bytes without control characters. */
export const boardId = key(128)
/** Whose record it is: 1..256 bytes without control characters; it need not be an account. */
export const recordUserId = key(256)

export const NewBoard = once(() =>
  z.strictObject({
    id: boardId,
    sort: optional(z.enum(boardSorts)),
    operator: optional(z.enum(boardOperators)),
    reset_schedule: optional(reference(1024)),
  }),
)

export const Submission = once(() =>
  z.strictObject({
    user_id: recordUserId,
    score: int64,
    subscore: optional(int64),
    metadata: optional(freeObject),
  }),
)

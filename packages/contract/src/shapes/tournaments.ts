import { z } from 'zod'
import { key, presentReference, unixMs } from '../values/fields.ts'
import { int64 } from '../values/numbers.ts'
import { once } from '../values/once.ts'

/**
 * What a tournament can be. Operators open the registration, start it and cancel it; the server
 * alone finalizes and completes it. `completed` and `cancelled` are the ends.
 */
export const tournamentStates = [
  'draft',
  'registration_open',
  'running',
  'finalizing',
  'completed',
  'cancelled',
] as const
export type TournamentState = (typeof tournamentStates)[number]

/** Ids of tournaments, and of the boards that they are played on: 1..128 bytes. */
export const tournamentId = key(128)

const schedule = {
  registration_opens_at_unix_ms: unixMs,
  registration_closes_at_unix_ms: unixMs,
  starts_at_unix_ms: unixMs,
  ends_at_unix_ms: unixMs,
}

export const Tournament = once(() =>
  z.strictObject({
    id: z.string(),
    leaderboard_id: z.string(),
    state: z.enum(tournamentStates),
    ...schedule,
    settled_epoch_due_at_unix_ms: unixMs.nullable().meta({
      description: 'When the reset was due, or the end, whose records were ranked; null before',
    }),
    created_at_unix_ms: unixMs,
    updated_at_unix_ms: unixMs,
  }),
)
export type Tournament = z.output<ReturnType<typeof Tournament>>

export const TournamentEntry = once(() =>
  z.strictObject({
    tournament_id: z.string(),
    user_id: z.string(),
    registered_at: unixMs,
  }),
)
export type TournamentEntry = z.output<ReturnType<typeof TournamentEntry>>

export const TournamentResult = once(() =>
  z.strictObject({
    tournament_id: z.string(),
    user_id: z.string(),
    rank: z.int().min(1),
    score: int64,
    subscore: int64,
  }),
)
export type TournamentResult = z.output<ReturnType<typeof TournamentResult>>

/** Whom to register for which tournament: the arguments that a script gives. */
export const TournamentRegistration = once(() =>
  z.strictObject({
    id: tournamentId,
    user_id: presentReference(),
  }),
)

export const NewTournament = once(() =>
  z
    .strictObject({ id: tournamentId, leaderboard_id: tournamentId, ...schedule })
    .refine(isInOrder, {
      error: 'must hold registration opening, its closing, start and end in this order',
    }),
)

type Schedule = { [Name in keyof typeof schedule]: number }

/** Moments that are equal are in order. */
function isInOrder(times: Schedule): boolean {
  return (
    times.registration_opens_at_unix_ms <= times.registration_closes_at_unix_ms &&
    times.registration_closes_at_unix_ms <= times.starts_at_unix_ms &&
    times.starts_at_unix_ms <= times.ends_at_unix_ms
  )
}

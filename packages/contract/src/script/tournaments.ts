import { z } from 'zod'
import {
  tournamentId as id,
  NewTournament,
  Tournament,
  TournamentEntry,
  TournamentRegistration,
  TournamentResult,
  tournamentStates,
} from '../shapes/tournaments.ts'
import { defineScriptApi } from './script-api.ts'

const trusted = { tier: 'trusted', runs: 'node' } as const

export const tournamentsScript = defineScriptApi({
  'tournaments.list': {
    doc: 'All tournaments by start time, then id.',
    args: {},
    ok: () => z.array(Tournament()),
    ...trusted,
  },
  'tournaments.get': {
    doc: 'One tournament, or null.',
    args: () => ({ id }),
    ok: () => Tournament().nullable(),
    ...trusted,
  },
  'tournaments.create': {
    doc: 'Drafts a tournament; its board need not exist yet.',
    example: [
      "await guildhall.tournaments.create({ id: 'cup', leaderboard_id: 'weekly', ...times })",
      "await guildhall.tournaments.transition('cup', 'registration_open')",
    ],
    args: () => ({ definition: NewTournament() }),
    ok: Tournament,
    errors: ['conflict'],
    ...trusted,
  },
  'tournaments.transition': {
    doc: 'Opens the registration, starts or cancels a tournament, under the rules of operators.',
    args: () => ({ id, to: z.enum(tournamentStates) }),
    ok: Tournament,
    errors: ['not_found', 'conflict'],
    ...trusted,
  },
  'tournaments.register': {
    doc: 'Registers an active account while registration is open; a repeat changes nothing.',
    example: ["await guildhall.tournaments.register('cup', ctx.user_id)"],
    args: () => TournamentRegistration().shape,
    ok: TournamentEntry,
    errors: ['not_found', 'conflict'],
    ...trusted,
  },
  'tournaments.entries': {
    doc: 'Who is registered, by the time of registering.',
    args: () => ({ id }),
    ok: () => z.array(TournamentEntry()),
    errors: ['not_found'],
    ...trusted,
  },
  'tournaments.results': {
    doc: 'The final ranking by rank; empty before the settlement.',
    args: () => ({ id }),
    ok: () => z.array(TournamentResult()),
    errors: ['not_found'],
    ...trusted,
  },
})

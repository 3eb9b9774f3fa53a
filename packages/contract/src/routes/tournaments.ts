import { z } from 'zod'
import {
  NewTournament,
  Tournament,
  TournamentEntry,
  TournamentResult,
  tournamentId,
  tournamentStates,
} from '../shapes/tournaments.ts'
import { pageOf } from '../values/numbers.ts'
import { defineApi } from './route.ts'

const onTournament = {
  access: 'operator',
  scope: 'tournaments:read',
  params: () => z.strictObject({ id: tournamentId }),
  errors: ['not_found'],
} as const

export const tournamentsApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/tournaments',
    access: 'operator',
    scope: 'tournaments:read',
    summary: 'All tournaments by start time, then id',
    ok: () => pageOf(Tournament()),
  },
  create: {
    method: 'POST',
    path: '/console/v1/tournaments',
    access: 'admin',
    audit: 'tournaments.create',
    summary: 'Drafts a tournament; its board need not exist yet',
    body: NewTournament,
    ok: Tournament,
    status: 201,
    errors: ['conflict'],
  },
  get: {
    ...onTournament,
    method: 'GET',
    path: '/console/v1/tournaments/{id}',
    summary: 'One tournament',
    ok: Tournament,
  },
  transition: {
    method: 'POST',
    path: '/console/v1/tournaments/{id}/transition',
    access: 'admin',
    audit: 'tournaments.transition',
    summary: 'Opens the registration, starts or cancels a tournament',
    params: () => z.strictObject({ id: tournamentId }),
    body: () => z.strictObject({ state: z.enum(tournamentStates) }),
    ok: Tournament,
    errors: ['not_found', 'conflict'],
  },
  entries: {
    ...onTournament,
    method: 'GET',
    path: '/console/v1/tournaments/{id}/entries',
    summary: 'Who is registered, by the time of registering, then user id',
    ok: () => pageOf(TournamentEntry()),
  },
  results: {
    ...onTournament,
    method: 'GET',
    path: '/console/v1/tournaments/{id}/results',
    summary: 'The final ranking by rank; empty before the settlement, and fixed after it',
    ok: () => pageOf(TournamentResult()),
  },
})

import { tournamentsApi, type tournamentsScript } from '@guildhall/contract'
import { byScript, nullWhenNotFound, type ScriptPart } from '../../kernel/play/script.ts'
import type { createRegistration } from './tournaments.registration.ts'
import type { Tournaments } from './tournaments.service.ts'

type Deps = {
  tournaments: Pick<Tournaments, 'list' | 'get' | 'create' | 'transition' | 'entries' | 'results'>
  register: ReturnType<typeof createRegistration>['register']
}

const { create, transition } = tournamentsApi

/** Tournaments for the game's script: it says what is played and who takes part. */
export function tournamentFunctions({
  tournaments,
  register,
}: Deps): ScriptPart<typeof tournamentsScript> {
  return {
    'tournaments.list': async () => (await tournaments.list()).items,
    'tournaments.get': (_caller, { id }) => nullWhenNotFound(tournaments.get(id)),
    'tournaments.create': (caller, { definition }) =>
      tournaments.create(byScript(caller, create.audit), definition),
    'tournaments.transition': (caller, { id, to }) =>
      tournaments.transition(byScript(caller, transition.audit), id, to),
    'tournaments.register': (_caller, { id, user_id }) => register(id, user_id),
    'tournaments.entries': async (_caller, { id }) => (await tournaments.entries(id)).items,
    'tournaments.results': async (_caller, { id }) => (await tournaments.results(id)).items,
  }
}

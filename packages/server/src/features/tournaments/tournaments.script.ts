import type { tournamentsScript } from '@guildhall/contract'
import { nullWhenNotFound, type ScriptPart } from '../../kernel/play/script.ts'
import type { createRegistration } from './tournaments.registration.ts'
import type { Tournaments } from './tournaments.service.ts'

type Deps = {
  tournaments: Pick<Tournaments, 'list' | 'get' | 'entries' | 'results'>
  register: ReturnType<typeof createRegistration>['register']
}

/** Tournaments for the game's script: it says who takes part, everything else is read. */
export function tournamentFunctions({
  tournaments,
  register,
}: Deps): ScriptPart<typeof tournamentsScript> {
  return {
    'tournaments.list': async () => (await tournaments.list()).items,
    'tournaments.get': (_caller, { id }) => nullWhenNotFound(tournaments.get(id)),
    'tournaments.register': (_caller, { id, user_id }) => register(id, user_id),
    'tournaments.entries': async (_caller, { id }) => (await tournaments.entries(id)).items,
    'tournaments.results': async (_caller, { id }) => (await tournaments.results(id)).items,
  }
}

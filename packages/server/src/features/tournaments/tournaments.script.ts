import { TournamentRegistration, tournamentsApi } from '@guildhall/contract'
import { Failure } from '../../kernel/failure.ts'
import { validate } from '../../kernel/json/validate.ts'
import type { ScriptFunctions } from '../feature.ts'
import type { Tournaments } from './tournaments.service.ts'

type ScriptDeps = {
  tournaments: Tournaments
  register(id: string, userId: string): Promise<unknown>
}

/** What the game's script can ask about tournaments; bounds are those of the console's routes. */
export function tournamentFunctions({ tournaments, register }: ScriptDeps): ScriptFunctions {
  const idOf = (id: unknown) => validate(tournamentsApi.get.params, { id }).id
  return {
    'tournaments.list': async () => (await tournaments.list()).items,
    'tournaments.get': async (id) => orNull(tournaments.get(idOf(id))),
    'tournaments.register': async (id, userId) => {
      const wish = validate(TournamentRegistration, { id, user_id: userId })
      return register(wish.id, wish.user_id)
    },
    'tournaments.entries': async (id) => (await tournaments.entries(idOf(id))).items,
    'tournaments.results': async (id) => (await tournaments.results(idOf(id))).items,
  }
}

/** Null for what is not there. */
async function orNull<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found
  } catch (error) {
    if (error instanceof Failure && error.code === 'not_found') return null
    throw error
  }
}

import type { tournamentsApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { Tournaments } from './tournaments.service.ts'

export function tournamentHandlers(
  tournaments: Tournaments,
): ServerHandlers<typeof tournamentsApi> {
  return {
    list: () => tournaments.list(),
    create: ({ mutation, body }) => tournaments.create(mutation, body),
    get: ({ params }) => tournaments.get(params.id),
    transition: ({ mutation, params, body }) =>
      tournaments.transition(mutation, params.id, body.state),
    entries: ({ params }) => tournaments.entries(params.id),
    results: ({ params }) => tournaments.results(params.id),
  }
}

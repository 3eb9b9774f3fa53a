import type { MountedRoute } from '../kernel/http/exchange.ts'
import type { PruneBatch } from '../kernel/retention.ts'
import type { Players } from './players.ts'
import type { Shared } from './shared.ts'
import type { Trail } from './trail.ts'

/** What one console section brings to the node. */
type Section = { routes: MountedRoute[]; pruners: Record<string, PruneBatch> }

/** The console's sections about people; each is built on its own and knows no other. */
export function createPeople(_shared: Shared, _parts: { trail: Trail; players: Players }) {
  const sections: Section[] = []
  return {
    routes: sections.flatMap(({ routes }) => routes),
    pruners: Object.assign({}, ...sections.map(({ pruners }) => pruners)) as Section['pruners'],
  }
}

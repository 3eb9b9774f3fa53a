import type { Transaction } from '../database/database.ts'
import type { MountedRoute } from '../kernel/http/exchange.ts'
import type { PruneBatch } from '../kernel/retention.ts'
import type { Shared } from './shared.ts'
import type { Trail } from './trail.ts'

/** What one console section brings to the node. */
type Section = { routes: MountedRoute[]; pruners: Record<string, PruneBatch<Transaction>> }

/** The console's sections about game data; each is built on its own and knows no other. */
export function createGame(_shared: Shared, _trail: Trail) {
  const sections: Section[] = []
  return {
    routes: sections.flatMap(({ routes }) => routes),
    pruners: Object.assign({}, ...sections.map(({ pruners }) => pruners)) as Section['pruners'],
  }
}

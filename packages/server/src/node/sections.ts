import type { Transaction } from '../database/database.ts'
import type { MountedRoute } from '../kernel/http/exchange.ts'
import type { PruneBatch } from '../kernel/tasks/retention.ts'

/** What one console section brings to the node. */
export type Section = { routes: MountedRoute[]; pruners: Record<string, PruneBatch<Transaction>> }

/** What several bring together. */
export function joinSections(sections: readonly Section[]): Section {
  return {
    routes: sections.flatMap(({ routes }) => routes),
    pruners: Object.fromEntries(sections.flatMap(({ pruners }) => Object.entries(pruners))),
  }
}

import type { configApi } from '@guildhall/contract'
import type { Backend } from '../../database/database.ts'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'

export type ConfigView = {
  node_id: string
  version: string
  backend: Backend
  groups: { name: string; entries: { key: string; value: string }[] }[]
}

/** In words: `default`, `guildhall.toml line 4`, `flag --bind`. */
export type SourceOf = (key: string) => string

/** The views are made once, at start: configuration is read once and never changes. */
export function configHandlers(
  view: ConfigView,
  sourceOf: SourceOf,
): ServerHandlers<typeof configApi> {
  const withSources = {
    ...view,
    groups: view.groups.map(({ name, entries }) => ({
      name,
      entries: entries.map((entry) => ({ ...entry, source: sourceOf(`${name}.${entry.key}`) })),
    })),
  }
  return { get: async ({ query }) => (query.sources === 'true' ? withSources : view) }
}

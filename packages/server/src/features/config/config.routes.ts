import type { configApi } from '@guildhall/contract'
import type { Backend } from '../../database/database.ts'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'

export type ConfigView = {
  node_id: string
  version: string
  backend: Backend
  groups: { name: string; entries: { key: string; value: string }[] }[]
}

/** The view is made once, at start: configuration is read once and never changes. */
export function configHandlers(view: ConfigView): ServerHandlers<typeof configApi> {
  return { get: async () => view }
}

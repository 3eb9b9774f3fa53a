import type { storageApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { StorageImport } from './storage.import.ts'
import type { Storage } from './storage.service.ts'

export function storageHandlers(
  storage: Storage,
  importObjects: StorageImport,
): ServerHandlers<typeof storageApi> {
  return {
    collections: () => storage.collections(),
    list: ({ params, query }) => storage.list({ ...params, ...query }),
    values: ({ params, query }) => storage.values({ ...params, ...query }),
    get: ({ params, query }) => storage.get({ ...params, ...query }),
    put: ({ mutation, params, query, body }) =>
      storage.put(mutation, { ...params, ...query }, body),
    import: ({ mutation, body }) => importObjects(mutation, body),
    delete: async ({ mutation, params, query: { user_id, version } }) => {
      await storage.delete(mutation, { ...params, user_id }, version)
      return undefined
    },
  }
}

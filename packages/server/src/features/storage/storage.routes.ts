import type { storageApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { Storage } from './storage.service.ts'

export function storageHandlers(storage: Storage): ServerHandlers<typeof storageApi> {
  return {
    collections: () => storage.collections(),
    list: ({ params, query }) => storage.list({ ...params, ...query }),
    get: ({ params, query }) => storage.get({ ...params, ...query }),
    put: ({ mutation, params, query, body }) =>
      storage.put(mutation, { ...params, ...query }, body),
    delete: async ({ mutation, params, query: { user_id, version } }) => {
      await storage.delete(mutation, { ...params, user_id }, version)
      return undefined
    },
  }
}

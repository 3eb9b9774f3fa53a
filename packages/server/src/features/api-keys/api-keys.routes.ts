import type { apiKeysApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { ApiKeys } from './api-keys.service.ts'

export function apiKeyHandlers(keys: ApiKeys): ServerHandlers<typeof apiKeysApi> {
  return {
    list: () => keys.list(),
    create: ({ mutation, body }) => keys.create(mutation, body),
    get: ({ params }) => keys.get(params.id),
    rotate: ({ mutation, params, body }) => keys.rotate(mutation, { ...params, ...body }),
    revoke: ({ mutation, params, body }) => keys.revoke(mutation, { ...params, ...body }),
  }
}

import type { consoleSessionsApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { ConsoleSessions } from './console-sessions.service.ts'

export function consoleSessionHandlers(
  sessions: ConsoleSessions,
): ServerHandlers<typeof consoleSessionsApi> {
  return {
    list: ({ params, query }) => sessions.list(params.id, query),
    lastSeen: ({ params }) => sessions.lastSeen(params.id),
    revokeAll: ({ mutation, params }) => sessions.revokeAll(mutation, params.id),
    revoke: ({ mutation, params }) => sessions.revoke(mutation, params.id, params.session_id),
  }
}

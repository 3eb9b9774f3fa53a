import type { sessionsApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { Sessions } from './sessions.service.ts'

export function sessionHandlers(sessions: Sessions): ServerHandlers<typeof sessionsApi> {
  return {
    refresh: ({ body }) => sessions.refresh(body.refresh_token),
    logout: async ({ bearer, body }) => {
      await sessions.logout({ bearer, refresh_token: body.refresh_token })
      return undefined
    },
  }
}

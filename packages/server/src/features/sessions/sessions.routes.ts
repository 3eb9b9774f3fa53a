import type { sessionsApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { Sessions } from './sessions.service.ts'

/** @param accessTtlSec The life of the access tokens that are handed out */
export function sessionHandlers(
  sessions: Sessions,
  accessTtlSec: number,
): ServerHandlers<typeof sessionsApi> {
  return {
    refresh: async ({ body, request }) => {
      const tokens = await sessions.refresh(body.refresh_token)
      request.header('x-access-expires-in', String(accessTtlSec))
      return tokens
    },
    logout: async ({ bearer, body }) => {
      await sessions.logout({ bearer, refresh_token: body.refresh_token })
      return undefined
    },
  }
}

import type { consoleApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import { limitGroup } from '../../kernel/http/request/source-address.ts'
import type { Console } from './console.service.ts'

export function consoleHandlers(operators: Console): ServerHandlers<typeof consoleApi> {
  return {
    login: ({ body, request }) => operators.login(body, limitGroup(request.source)),
    logout: async ({ principal, bearer }) => {
      // The route takes no API key, so the token is that of a human.
      if (principal.kind === 'human') await operators.logout(bearer, principal)
    },
    me: async ({ principal }) => {
      if (principal.kind === 'human') {
        return { username: principal.username, role: principal.role }
      }
      const { credential_id, key_name, scopes, generation } = principal
      return { actor_type: 'api_key', credential_id, key_name, scopes: [...scopes], generation }
    },
  }
}

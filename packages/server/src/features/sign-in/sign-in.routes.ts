import type { SessionTokens, signInApi } from '@guildhall/contract'
import type { RequestInfo, ServerHandlers } from '../../kernel/http/exchange.ts'
import { limitGroup } from '../../kernel/http/request/source-address.ts'
import type { SignIn } from './sign-in.service.ts'

/** @param accessTtlSec The life of the access tokens that are handed out */
export function signInHandlers(
  signIn: SignIn,
  accessTtlSec: number,
): ServerHandlers<typeof signInApi> {
  function answer(body: SessionTokens, request: RequestInfo) {
    request.header('x-access-expires-in', String(accessTtlSec))
    return { status: body.created ? (201 as const) : (200 as const), body }
  }

  return {
    device: async ({ body, request }) =>
      answer(await signIn.withId('device', body, limitGroup(request.source)), request),
    custom: async ({ body, request }) =>
      answer(await signIn.withId('custom', body, limitGroup(request.source)), request),
    email: async ({ body, request }) =>
      answer(await signIn.withEmail(body, limitGroup(request.source)), request),
  }
}

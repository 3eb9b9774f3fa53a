import type { SessionTokens, signInApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import { limitGroup } from '../../kernel/http/source-address.ts'
import type { SignIn } from './sign-in.service.ts'

export function signInHandlers(signIn: SignIn): ServerHandlers<typeof signInApi> {
  return {
    device: async ({ body, request }) =>
      answer(await signIn.withId('device', body, limitGroup(request.source))),
    custom: async ({ body, request }) =>
      answer(await signIn.withId('custom', body, limitGroup(request.source))),
    email: async ({ body, request }) =>
      answer(await signIn.withEmail(body, limitGroup(request.source))),
  }
}

function answer(body: SessionTokens) {
  return { status: body.created ? (201 as const) : (200 as const), body }
}

import { expectTypeOf, it } from 'vitest'
import type { accountsApi, Client, sessionsApi, signInApi } from './index.ts'
import type * as players from './players.ts'

type SignIn = Client<typeof signInApi>
type Accounts = Client<typeof accountsApi>
type BodyOf<Call> = Call extends (input: { body: infer Body }) => unknown ? Body : never

it('[R-SDK-26] the plain types of players are those of the schemas', () => {
  expectTypeOf<players.CredentialSignInBody>().branded.toEqualTypeOf<BodyOf<SignIn['device']>>()
  expectTypeOf<players.CredentialSignInBody>().branded.toEqualTypeOf<BodyOf<SignIn['custom']>>()
  expectTypeOf<players.EmailSignInBody>().branded.toEqualTypeOf<BodyOf<SignIn['email']>>()
  expectTypeOf<players.ProfilePatchBody>().toEqualTypeOf<BodyOf<Accounts['patch']>>()
  expectTypeOf<players.LookupBody>().toEqualTypeOf<BodyOf<Accounts['lookup']>>()
  expectTypeOf<Promise<players.SessionTokens>>().toEqualTypeOf<ReturnType<SignIn['email']>>()
  expectTypeOf<Promise<players.SessionTokens>>().toEqualTypeOf<
    ReturnType<Client<typeof sessionsApi>['refresh']>
  >()
  expectTypeOf<Promise<players.Profile>>().toEqualTypeOf<ReturnType<Accounts['get']>>()
  expectTypeOf<Promise<players.Profile>>().toEqualTypeOf<ReturnType<Accounts['patch']>>()
  expectTypeOf<Promise<{ users: players.Profile[] }>>().toEqualTypeOf<
    ReturnType<Accounts['lookup']>
  >()
})

import type { PrincipalByAccess, Role, Scope } from '@guildhall/contract'
import type { Awaitable } from '../time/awaitable.ts'

/** A signed-in player: the session behind the access token and its active account's profile. */
export type PlayerPrincipal = {
  kind: 'player'
  session_id: string
  user_id: string
  username: string
  display_name: string | null
}

/** A human operator behind a console token. */
export type HumanPrincipal = { kind: 'human'; username: string; role: Role }

/** A machine behind an API key. */
export type ApiKeyPrincipal = {
  kind: 'api_key'
  credential_id: string
  key_name: string
  scopes: readonly Scope[]
  generation: number
}

export type OperatorPrincipal = HumanPrincipal | ApiKeyPrincipal

/**
 * Names the owner of what belongs to one operator, such as a cursor or the record of a request. The
 * same name in another role is another operator.
 */
export function operatorKey(principal: OperatorPrincipal): string {
  return principal.kind === 'human'
    ? `${principal.role}:${principal.username}`
    : `key:${principal.credential_id}`
}

/** What the handlers of each access are given. */
export type Principals = PrincipalByAccess & {
  public: undefined
  player: PlayerPrincipal
  operator: OperatorPrincipal
  admin: HumanPrincipal
}

/** Filled by the features that keep the credentials; each answers undefined for "not valid". */
export type Verifiers = {
  accessToken(token: string): Awaitable<PlayerPrincipal | undefined>
  consoleToken(token: string): Awaitable<HumanPrincipal | undefined>
  apiKey(key: string): Promise<ApiKeyPrincipal | undefined>
}

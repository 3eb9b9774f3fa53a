import { SessionTokens } from '@guildhall/contract'
import type { Scenario, SignedUp } from '../../testing/scenario.ts'

/** What players of a scenario do with their sessions. */
export function createPlayerSessions(scenario: () => Scenario) {
  const signIn = async ({ device }: SignedUp) => {
    const answer = await scenario().api.call('POST', '/v1/auth/device', { body: { id: device } })
    return SessionTokens().parse(answer.body)
  }
  return {
    signIn,
    async refresh({ refresh_token }: SessionTokens): Promise<SessionTokens> {
      const body = { refresh_token }
      const answer = await scenario().api.call('POST', '/v1/session/refresh', { body })
      return SessionTokens().parse(answer.body)
    },
    logout: ({ token }: SessionTokens) =>
      scenario().api.call('POST', '/v1/session/logout', { token }),
    /** A player with sessions a second apart, the newest last. */
    async playing(count: number): Promise<SignedUp & { all: SessionTokens[] }> {
      const player = await scenario().signUp()
      const all: SessionTokens[] = [player]
      while (all.length < count) {
        await scenario().clock.advance(1000)
        all.push(await signIn(player))
      }
      return { ...player, all }
    },
  }
}

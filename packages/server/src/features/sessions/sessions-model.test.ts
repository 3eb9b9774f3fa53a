import { SessionTokens } from '@guildhall/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'

/** What a client may do with the pairs that it was ever given; numbers choose among them. */
const step = fc.oneof(
  fc.record({ do: fc.constant('sign in' as const), device: fc.nat(2) }),
  fc.record({ do: fc.constant('refresh' as const), pair: fc.nat(30) }),
  fc.record({
    do: fc.constant('log out' as const),
    bearer: fc.option(fc.nat(30)),
    body: fc.option(fc.nat(30)),
  }),
  fc.record({
    do: fc.constant('set state' as const),
    device: fc.nat(2),
    state: fc.constantFrom('active' as const, 'disabled' as const),
  }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 59_999, 60_000, 300_000) }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const accessMs = 60_000
const refreshMs = 300_000

type Session = { device: number; pair: number; revoked: boolean; startedAtMs: number }
type Pair = { session: Session; tokens: SessionTokens }

/** Who is live, in a few lines. */
class Model {
  readonly pairs: Pair[] = []
  readonly disabled = new Set<number>()
  nowMs = 0

  add(session: Session, tokens: SessionTokens): void {
    session.pair = this.pairs.length
    session.startedAtMs = this.nowMs
    this.pairs.push({ session, tokens })
  }

  isNewest(index: number): boolean {
    return this.pairs[index]?.session.pair === index
  }

  isLive(index: number): boolean {
    return (
      this.#usable(index, accessMs) && !this.disabled.has(this.pairs[index]?.session.device ?? -1)
    )
  }

  /** Ends a session whose account is disabled: its refresh is the moment at which that shows. */
  refreshes(index: number): boolean {
    const session = this.pairs[index]?.session
    if (session === undefined || !this.#usable(index, refreshMs)) return false
    if (!this.disabled.has(session.device)) return true
    session.revoked = true
    return false
  }

  logOut(indices: readonly number[]): void {
    const found = indices.filter((index) => this.isNewest(index))
    const sessions = new Set(found.map((index) => this.pairs[index]?.session))
    const [only] = sessions
    if (sessions.size === 1 && only !== undefined) only.revoked = true
  }

  #usable(index: number, lifeMs: number): boolean {
    const session = this.pairs[index]?.session
    if (session === undefined || session.revoked || !this.isNewest(index)) return false
    return this.nowMs < session.startedAtMs + lifeMs
  }
}

describe('sessions against a model', () => {
  it('[H-PLY-10] [H-PLY-13] [H-AUTH-2] lets in exactly who the model says is live', async () => {
    const [inMemory] = testBackends
    if (inMemory === undefined) throw new Error('there is no backend')
    const config = { 'sessions.access_ttl_sec': '60', 'sessions.refresh_ttl_sec': '300' }
    let world = 0
    const scenario = await openScenario(inMemory, config)
    const run = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      world += 1
      const model = new Model()
      const accounts = await Promise.all(
        [0, 1, 2].map((device) => registered(scenario, world, device)),
      )
      for (const each of steps) {
        await take(each, { scenario, model, world, accounts })
        const live = await Promise.all(
          model.pairs.map(async ({ tokens: { token } }) => {
            return (await scenario.api.call('GET', '/v1/account', { token })).status === 200
          }),
        )
        expect(live).toEqual(model.pairs.map((_, index) => model.isLive(index)))
      }
    })
    await fc.assert(run, { numRuns: 25 })
    expect(scenario.api.failures).toEqual([])
    await scenario.dispose()
  }, 120_000)
})

type World = { scenario: Scenario; model: Model; world: number; accounts: readonly string[] }

const deviceOf = (world: number, device: number) => `world-${world}-device-${device}`

async function registered({ api }: Scenario, world: number, device: number): Promise<string> {
  const id = deviceOf(world, device)
  const body = { id, create: true, username: id }
  return SessionTokens().parse((await api.call('POST', '/v1/auth/device', { body })).body).user_id
}

async function take(step: Step, { scenario, model, world, accounts }: World): Promise<void> {
  const { call } = scenario.api
  if (step.do === 'wait') {
    await scenario.clock.advance(step.ms)
    model.nowMs += step.ms
  } else if (step.do === 'set state') {
    await scenario.setState(accounts[step.device] ?? '', step.state)
    if (step.state === 'active') model.disabled.delete(step.device)
    else model.disabled.add(step.device)
  } else if (step.do === 'sign in') {
    const body = { id: deviceOf(world, step.device) }
    const answer = await call('POST', '/v1/auth/device', { body })
    expect(answer.status).toBe(model.disabled.has(step.device) ? 401 : 200)
    if (answer.status !== 200) return
    const session = { device: step.device, pair: 0, revoked: false, startedAtMs: 0 }
    model.add(session, SessionTokens().parse(answer.body))
  } else if (step.do === 'refresh') {
    const pair = model.pairs[step.pair]
    if (pair === undefined) return
    const body = { refresh_token: pair.tokens.refresh_token }
    const answer = await call('POST', '/v1/session/refresh', { body })
    expect(answer.status).toBe(model.refreshes(step.pair) ? 200 : 401)
    if (answer.status === 200) model.add(pair.session, SessionTokens().parse(answer.body))
  } else {
    const token = model.pairs[step.bearer ?? -1]?.tokens.token
    const refresh_token = model.pairs[step.body ?? -1]?.tokens.refresh_token
    const body = refresh_token === undefined ? {} : { body: { refresh_token } }
    const sent = { ...(token === undefined ? {} : { token }), ...body }
    expect((await call('POST', '/v1/session/logout', sent)).status).toBe(204)
    model.logOut([step.bearer, step.body].filter((index) => index !== null))
  }
}

import { friendsApi } from '@guildhall/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'

type State = 'invited_sent' | 'invited_received' | 'friend'

/** Relations as a list of who sees whom how, without the product's table. */
class Model {
  readonly sent = new Set<string>()

  add(actor: number, other: number): void {
    this.sent.add(`${actor}>${other}`)
  }

  remove(actor: number, other: number): void {
    this.sent.delete(`${actor}>${other}`)
    this.sent.delete(`${other}>${actor}`)
  }

  stateOf(actor: number, other: number): State | undefined {
    const [out, back] = [this.sent.has(`${actor}>${other}`), this.sent.has(`${other}>${actor}`)]
    if (out && back) return 'friend'
    if (out) return 'invited_sent'
    return back ? 'invited_received' : undefined
  }
}

const accounts = [0, 1, 2, 3] as const
const move = fc.record({
  what: fc.constantFrom('add' as const, 'add' as const, 'remove' as const),
  actor: fc.constantFrom(...accounts),
  other: fc.constantFrom(...accounts),
})

describe.each(testBackends)('relations on $name', (backend) => {
  const send = (
    operator: Operator | undefined,
    what: 'add' | 'remove',
    [id, other]: [string, string],
  ) =>
    what === 'add'
      ? operator?.send('POST', `/accounts/${id}/friends`, { user_id: other })
      : operator?.send('DELETE', `/accounts/${id}/friends/${other}`)

  const listOf = async (operator: Operator, id: string) =>
    friendsApi.list.ok.parse((await operator.send('GET', `/accounts/${id}/friends`)).body)

  const signUp = async (scenario: Scenario, count: number) => {
    const players = await Promise.all(Array.from({ length: count }, () => scenario.signUp()))
    return players.map(({ user_id }) => user_id)
  }

  it('[H-FRD-3] are at every moment what the model says, on both sides', async () => {
    const scenario = await openScenario(backend)
    const operator = await openOperator(scenario.api)
    const run = fc.asyncProperty(fc.array(move, { minLength: 4, maxLength: 24 }), async (moves) => {
      const ids = await signUp(scenario, accounts.length)
      const model = new Model()
      for (const { what, actor, other } of moves) {
        await scenario.clock.advance(1)
        const pair: [string, string] = [ids[actor] ?? '', ids[other] ?? '']
        const status = (await send(operator, what, pair))?.status
        expect(status).toBe(actor === other ? 400 : what === 'add' ? 200 : 204)
        if (actor !== other) model[what](actor, other)
        for (const each of new Set([actor, other])) {
          const seen = (await listOf(operator, ids[each] ?? '')).map(({ user_id, state }) => [
            user_id,
            state,
          ])
          const expected = accounts
            .map((one) => [ids[one], model.stateOf(each, one)])
            .filter(([, state]) => state !== undefined)
            .sort(([one = ''], [two = '']) => (one < two ? -1 : 1))
          expect(seen).toEqual(expected)
        }
      }
    })
    await fc.assert(run, { numRuns: backend.name === 'in-memory' ? 25 : 6 })
    expect(scenario.api.failures).toEqual([])
    await scenario.dispose()
  }, 120_000)

  it('[H-FRD-3] become friendship when both sides add at the same time, on two nodes', async () => {
    const scenario = await openScenario(backend)
    const operators = [
      await openOperator(scenario.api),
      await openOperator(await scenario.openNode()),
    ]
    const ids = await signUp(scenario, 6)
    const pairs = ids.flatMap((one) =>
      ids.filter((other) => other !== one).map((other): [string, string] => [one, other]),
    )
    const answers = await Promise.all(
      pairs.map((pair, turn) => send(operators[turn % 2], 'add', pair)),
    )
    expect(answers.map((answer) => answer?.status)).toEqual(pairs.map(() => 200))
    const edges = await scenario.rowsOf('friend_edges')
    expect(edges.map(({ state }) => state)).toEqual(pairs.map(() => 'friend'))
    await scenario.dispose()
  })

  it('[H-FRD-3] are whole or gone, whatever is added and removed at the same time', async () => {
    const scenario = await openScenario(backend)
    const operators = [
      await openOperator(scenario.api),
      await openOperator(await scenario.openNode()),
    ]
    const [ada = '', bob = ''] = await signUp(scenario, 2)
    for (let round = 0; round < 8; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, turn) => {
          const pair: [string, string] = turn % 3 === 0 ? [bob, ada] : [ada, bob]
          return send(operators[turn % 2], turn % 4 === round % 4 ? 'remove' : 'add', pair)
        }),
      )
      for (const answer of answers) expect([200, 204]).toContain(answer?.status)
      const edges = await scenario.rowsOf('friend_edges')
      const states = edges.map(({ state }) => String(state)).sort()
      expect(['', 'friend friend', 'invited_received invited_sent']).toContain(states.join(' '))
      expect(new Set(edges.map((edge) => edge.updated_unix_ms)).size).toBeLessThanOrEqual(1)
    }
    await scenario.dispose()
  })
})

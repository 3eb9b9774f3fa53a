import { beforeAll, describe, expect, it } from 'vitest'
import { databaseNow } from '../../database/reads/stored-time.ts'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { scriptCalls } from '../../testing/script-calls.fixture.ts'
import {
  farUnixMs,
  openTournamentOperator,
  type TournamentOperator,
} from './tournaments.fixture.ts'

/** Registering is open by the database's clock, which is not the scenario's. */
const open = { ends_at_unix_ms: farUnixMs }

/** Keeps everybody else from looking at the state of an account until its transaction ends. */
const holdAccount = statement({
  name: 'tests.hold-account',
  text: 'UPDATE accounts SET state = state WHERE id = :user_id',
  params: { user_id: 'text' },
})

const waiting = statement({
  name: 'tests.waiting',
  text: `SELECT count(*) AS count FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database()`,
  row: { count: 'integer' },
})

describe.each(testBackends)('registering for a tournament on $name', (backend) => {
  let scenario: Scenario
  let operator: TournamentOperator
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openTournamentOperator(scenario.api, scenario.db)
    return () => scenario.dispose()
  })

  const register = (id: string, user: string) =>
    scenario.api.features.tournaments.register(id, user)
  const waitingNow = async () => (await scenario.db.get(waiting, {}))?.count
  const refused = (code: string) => expect.objectContaining({ name: 'Failure', code })

  it('[S-API-12] [H-TRN-2] enters a user once, in the order of registering', async () => {
    const { id } = await operator.make(open)
    await operator.move(id, 'registration_open')
    const users = [await scenario.signUp(), await scenario.signUp(), await scenario.signUp()]
    const [a = '', b = '', c = ''] = users.map(({ user_id }) => user_id).sort()
    const now = scenario.clock.nowUnixMs()
    expect(await register(id, c)).toEqual({ tournament_id: id, user_id: c, registered_at: now })
    await scenario.clock.advance(5)
    await register(id, b)
    await register(id, a)
    await scenario.clock.advance(5)
    expect((await register(id, c)).registered_at).toBe(now)
    const answer = await operator.send('GET', `${operator.path(id)}/entries`)
    expect(answer.body).toEqual({
      items: [
        { tournament_id: id, user_id: c, registered_at: now },
        { tournament_id: id, user_id: a, registered_at: now + 5 },
        { tournament_id: id, user_id: b, registered_at: now + 5 },
      ],
      total: 3,
    })
  })

  it('[S-API-12] [O-CLK-1] takes nobody outside of its state and window, but knows who is in', async () => {
    // By the database's clock (O-CLK-1): that of the node is more than a year behind.
    const now = await databaseNow(scenario.db)
    const hour = 3_600_000
    const window = (opens: number, closes: number) => ({
      ...open,
      registration_opens_at_unix_ms: opens,
      registration_closes_at_unix_ms: closes,
    })
    const [ann, bob] = [await scenario.signUp(), await scenario.signUp()]
    const nodeNow = scenario.clock.nowUnixMs()
    for (const request of [window(now + hour, farUnixMs), window(nodeNow - hour, nodeNow + hour)]) {
      const shut = await operator.make(request)
      await operator.move(shut.id, 'registration_open')
      await expect(register(shut.id, ann.user_id)).rejects.toEqual(refused('conflict'))
    }
    const { id } = await operator.make(window(now - hour, now + hour))
    await expect(register(id, ann.user_id)).rejects.toEqual(refused('conflict'))
    await operator.move(id, 'registration_open')
    const entry = await register(id, ann.user_id)
    await scenario.clock.advance(5)
    await register(id, bob.user_id)
    expect(await register(id, ann.user_id)).toEqual(entry)
    const late = await scenario.signUp()
    await operator.move(id, 'running')
    await expect(register(id, late.user_id)).rejects.toEqual(refused('conflict'))
    await scenario.setState(ann.user_id, 'disabled')
    expect(await register(id, ann.user_id)).toEqual(entry)
    expect(await operator.entrants(id)).toEqual([ann.user_id, bob.user_id])
  })

  it('[S-API-12] takes active accounts only', async () => {
    const { id } = await operator.make(open)
    await operator.move(id, 'registration_open')
    for (const state of ['disabled', 'tombstoned'] as const) {
      const { user_id } = await scenario.signUp()
      await scenario.setState(user_id, state)
      await expect(register(id, user_id)).rejects.toEqual(refused('conflict'))
    }
    for (const user of ['nobody', '', 'a\u0000', 'x'.repeat(5000)]) {
      await expect(register(id, user)).rejects.toEqual(refused('not_found'))
    }
    expect(await operator.entrants(id)).toEqual([])
  })

  it('[S-API-1] refuses ids that no tournament has', async () => {
    const { user_id } = await scenario.signUp()
    await expect(register('none', user_id)).rejects.toEqual(refused('not_found'))
    await expect(register('🏆'.repeat(32), user_id)).rejects.toEqual(refused('not_found'))
    for (const id of ['', `${'🏆'.repeat(32)}x`, 'a\u0000']) {
      await expect(register(id, user_id)).rejects.toEqual(refused('invalid_request'))
    }
  })

  it('[S-API-1] scripts register and read by the same rules, and learn of null for none', async () => {
    const ask = scriptCalls(scenario.api.features.tournaments.script)
    const call = (name: string, ...args: unknown[]) => ask(`tournaments.${name}`, ...args)
    const { id } = await operator.make(open)
    await operator.move(id, 'registration_open')
    const { user_id } = await scenario.signUp()
    const entry = await call('register', id, user_id)
    expect(entry).toMatchObject({ tournament_id: id, user_id })
    expect(await call('entries', id)).toEqual([entry])
    expect(await call('results', id)).toEqual([])
    expect(await call('get', id)).toEqual(await operator.get(id))
    expect(await call('get', 'none')).toBeNull()
    expect(await call('list')).toEqual(await operator.list())
    const long = `${'🏆'.repeat(32)}x`
    for (const wrong of [undefined, null, 7, '', long, 'a\u0000', ['x'], {}]) {
      for (const name of ['get', 'entries', 'results', 'register']) {
        const answer = call(name, wrong, user_id)
        await expect(answer).rejects.toEqual(refused('invalid_request'))
      }
    }
    for (const wrong of [undefined, null, 7, ' ', 'x'.repeat(1025), 'a\u0000', ['x']]) {
      await expect(call('register', id, wrong)).rejects.toEqual(refused('invalid_request'))
    }
    for (const name of ['entries', 'results']) {
      await expect(call(name, 'none')).rejects.toEqual(refused('not_found'))
    }
    expect(await operator.entrants(id)).toEqual([user_id])
  })

  it('[S-API-12] one user many times at once is one entry', async () => {
    const other = await scenario.openNode({ 'server.node_id': 'dev-4' })
    const { id } = await operator.make(open)
    await operator.move(id, 'registration_open')
    const { user_id } = await scenario.signUp()
    const entries = await Promise.all(
      Array.from({ length: 10 }, (_, n) => {
        const { features } = n % 2 === 0 ? scenario.api : other
        return features.tournaments.register(id, user_id)
      }),
    )
    expect(new Set(entries.map((entry) => JSON.stringify(entry))).size).toBe(1)
    expect(await operator.entrants(id)).toEqual([user_id])
  })

  // Only there can a registration be under way while another transaction is.
  it.runIf(backend.name === 'postgres')(
    '[S-API-12] a start waits for the registration that is under way',
    async () => {
      const { id } = await operator.make(open)
      await operator.move(id, 'registration_open')
      const { user_id } = await scenario.signUp()
      const order: string[] = []
      const work = await scenario.db.transaction(
        async (tx) => {
          await tx.run(holdAccount, { user_id })
          const entered = register(id, user_id).then(() => order.push('entered'))
          await expect.poll(waitingNow).toBe(1)
          const started = operator.move(id, 'running').then(() => order.push('started'))
          await expect.poll(waitingNow).toBe(2)
          return [entered, started]
        },
        { isolation: 'read committed' },
      )
      await Promise.all(work)
      expect(order).toEqual(['entered', 'started'])
      expect(await operator.entrants(id)).toEqual([user_id])
    },
  )

  it('[S-API-12] registrations and the start at once: who was in before is in, nobody after', async () => {
    const { id } = await operator.make(open)
    await operator.move(id, 'registration_open')
    const users = []
    for (let n = 0; n < 12; n += 1) users.push((await scenario.signUp()).user_id)
    const work = users.map((user) => register(id, user).then(() => user))
    const [outcomes] = await Promise.all([
      Promise.allSettled(work),
      operator.transition(id, 'running'),
    ])
    const registered = outcomes.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []))
    expect((await operator.entrants(id)).sort()).toEqual(registered.sort())
  })
})

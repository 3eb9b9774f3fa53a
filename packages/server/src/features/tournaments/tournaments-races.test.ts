import { notificationsApi } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Transaction } from '../../database/database.ts'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import type { TestApi } from '../../testing/api.ts'
import { openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { createSettlement } from './settlement/settlement.jobs.ts'
import { createSettlementRules } from './settlement/settlement.ts'
import type { TournamentOperator } from './tournaments.fixture.ts'
import { backgroundOf, openTournamentOperator, putBoard } from './tournaments.fixture.ts'

/** A result that stands where the settlement wants to write one. */
const inTheWay = statement({
  name: 'tests.result-in-the-way',
  text: `INSERT INTO tournament_results (tournament_id, rank, user_id, score, subscore)
    VALUES (:id, 1, 'in the way', 0, 0)`,
  params: { id: 'text' },
})
const outOfTheWay = statement({
  name: 'tests.result-out-of-the-way',
  text: 'DELETE FROM tournament_results WHERE tournament_id = :id',
  params: { id: 'text' },
})
const expireLease = statement({
  name: 'tests.expire-settlement-lease',
  text: `UPDATE leases SET expires_at_unix_ms = 0 WHERE name = 'settlement'`,
})

const run = { signal: new AbortController().signal, progress() {} }

describe.each(testBackends)('settling on $name', (backend) => {
  let scenario: Scenario
  let operator: TournamentOperator
  let other: TestApi
  let users: string[]
  let boards = 0
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openTournamentOperator(scenario.api, scenario.db)
    other = await scenario.openNode({ 'server.node_id': 'dev-2' })
    users = []
    for (let n = 0; n < 6; n += 1) users.push((await scenario.signUp()).user_id)
    return () => scenario.dispose()
  })

  /** A tournament that is over, and whose entrants all have a record. */
  async function ended(): Promise<string> {
    boards += 1
    const leaderboard_id = `board ${boards}`
    const scores = users.map((user, index) => [user, BigInt(index)] as const)
    await putBoard(scenario.db, { id: leaderboard_id, sort: 'desc', scores })
    return (await operator.run(users, { leaderboard_id })).id
  }

  const eventsOf = (id: string) => scenario.rowsOf('outbox', `payload LIKE '%"${id}"%'`)
  const noticesOf = (id: string) => scenario.rowsOf('notifications', `content LIKE '%"${id}"%'`)
  const stateOf = async (id: string) => (await operator.get(id)).state
  const free = () => scenario.db.run(expireLease, {})

  it('[O-SCH-7] one that fails stops no other, is tried again after 1 s, doubling, and shows', async () => {
    const { settlement, settle } = backgroundOf(scenario, scenario.api, 'bt1-isolation')
    const [bad, good] = [await ended(), await ended()]
    await scenario.db.run(inTheWay, { id: bad })
    await settle()
    expect([await stateOf(bad), await stateOf(good)]).toEqual(['finalizing', 'completed'])
    expect(settlement.failures()).toBe(1)
    const { log, clock } = { log: scenario.api.log, clock: scenario.clock }
    expect(log.lines.some((line) => line.message === 'a tournament could not be settled')).toBe(
      true,
    )
    let failures = 1
    for (const waitMs of [1000, 2000, 4000]) {
      await clock.advance(waitMs - 1)
      await settle()
      expect([waitMs, settlement.failures()]).toEqual([waitMs, failures])
      expect(settlement.failingForMs()).toBeGreaterThan(0)
      await clock.advance(1)
      await settle()
      failures += 1
      expect([waitMs, settlement.failures()]).toEqual([waitMs, failures])
    }
    const after = await ended()
    await settle()
    expect(await stateOf(after)).toBe('completed')
    await scenario.db.run(outOfTheWay, { id: bad })
    await clock.advance(8000)
    await settle()
    expect([await stateOf(bad), settlement.failingForMs()]).toEqual(['completed', 0])
    expect(await operator.results(bad)).toHaveLength(users.length)
    await free()
  })

  it('[O-SCH-7] forgets a failing one that another node has settled', async () => {
    const one = backgroundOf(scenario, scenario.api, 'bt1-forgets')
    const id = await ended()
    await scenario.db.run(inTheWay, { id })
    await one.settle()
    await scenario.clock.advance(1)
    expect(one.settlement.failingForMs()).toBeGreaterThan(0)
    await scenario.db.run(outOfTheWay, { id })
    await one.lease.release()
    await backgroundOf(scenario, other, 'bt1-settles').settle()
    expect(await stateOf(id)).toBe('completed')
    await one.settle()
    expect(one.settlement.failingForMs()).toBe(0)
    await free()
  })

  it('[O-SCH-1] [O-SCH-2] a node without the lease settles nothing; a stale one commits nothing', async () => {
    const paused = backgroundOf(scenario, scenario.api, 'bt1-paused')
    const next = backgroundOf(scenario, other, 'bt1-next')
    const first = await ended()
    await paused.settle()
    expect(await stateOf(first)).toBe('completed')
    const second = await ended()
    await next.settle()
    expect(await stateOf(second)).toBe('running')
    await free()
    expect(await next.lease.keep()).toBe(true)
    // By its own count the lease is still its own.
    expect(paused.lease.held()).toBe(true)
    await paused.settle()
    expect(await stateOf(second)).toBe('running')
    await next.settle()
    expect(await stateOf(second)).toBe('completed')
    await free()
  })

  it('[O-TRN-5] what another node left in finalizing is completed by the next pass', async () => {
    const { clock, db } = scenario
    const id = await ended()
    const config = { notify_results: true, notify_max: 1000 }
    const half = createSettlementRules({ clock, config, leave: async () => {} })
    await db.transaction((tx) => half.finalizeAtEnd(tx, id))
    expect(await stateOf(id)).toBe('finalizing')
    expect(await scenario.rowsOf('tournament_snapshots')).toHaveLength(users.length)
    await backgroundOf(scenario, other, 'bt1-later').settle()
    expect(await stateOf(id)).toBe('completed')
    expect(await scenario.rowsOf('tournament_snapshots')).toEqual([])
    await free()
  })

  it('[H-TRN-7] settlements at once, without any lease, write one set of results', async () => {
    const ids = [await ended(), await ended(), await ended()]
    // Fences would keep them apart: here only the states do.
    const unfenced = (api: TestApi) => ({
      api,
      lease: {
        name: 'none',
        held: () => true,
        keep: async () => true,
        release: async () => {},
        transaction: scenario.db.transaction.bind(scenario.db),
      },
    })
    const settlers = [scenario.api, other, scenario.api, other].map((api) => {
      const { lease } = unfenced(api)
      return api.features.tournaments.settlementOf(lease)
    })
    await Promise.all(settlers.map((settlement) => settlement.settle(run)))
    await Promise.all(settlers.map((settlement) => settlement.settle(run)))
    for (const id of ids) {
      expect(await operator.results(id)).toHaveLength(users.length)
      expect(await eventsOf(id)).toHaveLength(2)
    }
    expect(settlers.map((settlement) => settlement.failures())).toEqual([0, 0, 0, 0])
  })

  it('[O-TRN-1] an operator who cancels and a settlement at once: one of them wins', async () => {
    const background = backgroundOf(scenario, other, 'bt1-cancel')
    for (let round = 0; round < 6; round += 1) {
      const id = await ended()
      const [answer] = await Promise.all([
        operator.transition(id, 'cancelled'),
        background.settle(),
      ])
      await background.settle()
      const cancelled = answer.status === 200
      if (!cancelled) expect(answer.status).toBe(409)
      expect(await stateOf(id)).toBe(cancelled ? 'cancelled' : 'completed')
      expect(await operator.results(id)).toHaveLength(cancelled ? 0 : users.length)
      expect(await eventsOf(id)).toHaveLength(cancelled ? 0 : 2)
    }
    await free()
  })

  it('[O-TRN-2] a reset and the end at once: one of them finalizes', async () => {
    const background = backgroundOf(scenario, other, 'bt1-reset')
    const { periodClosed } = scenario.api.features.tournaments
    for (let round = 0; round < 6; round += 1) {
      const id = await ended()
      const { leaderboard_id } = await operator.get(id)
      const [board] = await scenario.rowsOf('leaderboards', `id = '${leaderboard_id}'`)
      const closed = {
        leaderboard_id,
        period: Number(board?.period),
        sort: 'desc',
        due_at_unix_ms: 1,
      }
      const reset = (tx: Transaction) => periodClosed(tx, closed)
      await Promise.all([
        scenario.db.transaction(reset, { isolation: 'read committed' }),
        background.settle(),
      ])
      await background.settle()
      expect(await operator.results(id)).toHaveLength(users.length)
      expect(await eventsOf(id)).toHaveLength(2)
    }
    await free()
  })

  it('[H-TRN-5] goes through all that is due, page by page', async () => {
    const { clock, db } = scenario
    const ids = [await ended(), await ended(), await ended(), await ended(), await ended()]
    const { lease } = backgroundOf(scenario, scenario.api, 'bt1-pages')
    const left: string[] = []
    const config = { notify_results: false, notify_max: 1000 }
    const leave = async (_: Transaction, events: readonly { kind: string }[]) => {
      left.push(...events.map(({ kind }) => kind))
    }
    const rules = createSettlementRules({ clock, config, leave })
    const log = scenario.api.log
    const onHold = () => false
    const settlement = createSettlement({ db, clock, log, lease, rules, onHold, pageItems: 2 })
    await settlement.settle(run)
    for (const id of ids) expect(await stateOf(id)).toBe('completed')
    expect(left).toEqual(Array(5).fill('on_tournament_completed'))
    await free()
  })

  it('[O-TRN-7] notifies every ranked entrant once, however often it is delivered and settled', async () => {
    const id = await ended()
    const one = backgroundOf(scenario, scenario.api, 'bt1-notices')
    const two = backgroundOf(scenario, other, 'bt1-notices-2')
    await one.settle()
    await Promise.all([one.deliver(), two.deliver(), one.deliver()])
    await two.settle()
    await Promise.all([one.deliver(), two.deliver()])
    const notices = await noticesOf(id)
    expect(notices).toHaveLength(users.length)
    const { leaderboard_id } = await operator.get(id)
    for (const [index, user_id] of [...users].reverse().entries()) {
      const notice = notices.find((row) => row.user_id === user_id)
      expect(notice).toMatchObject({ subject: 'Tournament finished', code: 0n })
      expect(JSON.parse(String(notice?.content))).toEqual({
        tournament_id: id,
        leaderboard_id,
        rank: index + 1,
        score: users.length - 1 - index,
        subscore: 0,
      })
    }
    const hooks = [...one.seen, ...two.seen].filter(([, event]) =>
      JSON.stringify(event).includes(`"${id}"`),
    )
    expect(hooks).toEqual([
      ['on_tournament_completed', { tournament_id: id, leaderboard_id, results_total: 6 }],
    ])
    await free()
  })

  it('[O-TRN-7] [H-NTF-2] its notifications keep to the ring and to its totals', async () => {
    const node = await scenario.openNode({ 'notifications.capacity': '4' })
    const small = await openOperator(node)
    const id = await ended()
    const background = backgroundOf(scenario, node, 'bt1-small-ring')
    await background.settle()
    await background.deliver()
    const answer = await small.send('GET', '/notifications?limit=200')
    const { items, total } = notificationsApi.list.ok.parse(answer.body)
    expect([items.length, total]).toEqual([4, 4])
    expect(items.map(({ content }) => content.tournament_id)).toEqual(Array(4).fill(id))
    const rows = await scenario.rowsOf('notifications')
    const kept = await scenario.rowsOf('notification_totals', "audience = 'all'")
    expect(kept.map((row) => Number(row.total))).toEqual([rows.length])
    await free()
  })

  it.each([
    [{ 'tournaments.notify_max': '2' }, 2],
    [{ 'tournaments.notify_max': '6' }, 6],
    [{ 'tournaments.notify_results': 'false' }, 0],
  ])('[O-TRN-7] with %j it notifies the first %i', async (config, seen) => {
    const node = await scenario.openNode(config)
    const id = await ended()
    const background = backgroundOf(scenario, node, `bt1-${JSON.stringify(config)}`)
    await background.settle()
    await background.deliver()
    const notices = await noticesOf(id)
    const ranks = notices.map(({ content }) => JSON.parse(String(content)).rank)
    expect(ranks.sort()).toEqual(Array.from({ length: seen }, (_, index) => index + 1))
    await free()
  })
})

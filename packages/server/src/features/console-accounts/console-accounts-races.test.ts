import { AccountDetail } from '@guildhall/contract'
import { describe, expect, it } from 'vitest'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { createSystemClock } from '../../kernel/clock.ts'
import { openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { sessionsStore } from '../sessions/sessions.store.ts'

/** Elsewhere nobody can be in the middle of a transaction when another begins. */
const postgres = testBackends.filter(({ name }) => name === 'postgres')

describe.each(postgres)('a ban and a login at the same time on $name', (backend) => {
  const open = async () => {
    const scenario = await openScenario(backend)
    const operator = await openOperator(scenario.api)
    return { scenario, operator, player: await scenario.signUp() }
  }

  it.each(['ban', 'delete'] as const)(
    '[H-ACC-5] [H-ACC-6] a %s waits for a login that came first, and ends its session too',
    async (what) => {
      const { scenario, operator, player } = await open()
      const id = player.user_id
      const act = () =>
        what === 'ban'
          ? operator.send('POST', `/accounts/${id}/ban`)
          : operator.send('DELETE', `/accounts/${id}`)
      const session = {
        id: 'late',
        account_id: id,
        access_digest: Uint8Array.of(1),
        refresh_digest: Uint8Array.of(2),
        created_at_unix_ms: 0,
        access_expires_at_unix_ms: 2 ** 52,
        refresh_expires_at_unix_ms: 2 ** 52,
      }
      let ending: ReturnType<typeof act> | undefined
      await scenario.db.transaction(
        async (tx) => {
          expect((await sessionsStore.insertForActive(tx, [session])).size).toBe(1)
          ending = act()
          await somebodyWaits(scenario)
        },
        { isolation: 'read committed' },
      )
      expect((await ending)?.status).toBe(what === 'ban' ? 200 : 204)
      const rows = await scenario.rowsOf('sessions', 'revoked_at_unix_ms IS NULL')
      expect(rows).toEqual([])
      expect(scenario.api.revoked).toContain('late')
      expect((await operator.trailOf(`account ${id}`))[0]?.[1]).toContain('sessions_revoked=2')
      await scenario.dispose()
    },
  )

  it('[H-ACC-5] a login waits for a ban that came first, and opens no session', async () => {
    const { scenario, operator, player } = await open()
    const signIn = () =>
      scenario.api.call('POST', '/v1/auth/device', { body: { id: player.device } })
    let login: ReturnType<typeof signIn> | undefined
    await scenario.db.transaction(
      async (tx) => {
        await tx.run(disable, { id: player.user_id })
        login = signIn()
        await somebodyWaits(scenario)
      },
      { isolation: 'read committed' },
    )
    expect((await login)?.status).toBe(401)
    expect(await scenario.countRows('sessions')).toBe(1)
    const { body } = await operator.send('GET', `/accounts/${player.user_id}`)
    expect(AccountDetail().parse(body).state).toBe('disabled')
    await scenario.dispose()
  })
})

/** Resolves once a connection of this database waits for a lock. */
async function somebodyWaits({ db }: Scenario): Promise<void> {
  const clock = createSystemClock()
  for (;;) {
    const { waiting } = (await db.get(lockWaits, {})) ?? { waiting: 0 }
    if (waiting > 0) return
    await clock.sleep(10)
  }
}

const lockWaits = statement({
  name: 'tests.lock-waits',
  text: `SELECT count(*) AS waiting FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  row: { waiting: 'integer' },
})

const disable = statement({
  name: 'tests.disable',
  text: `UPDATE accounts SET state = 'disabled' WHERE id = :id`,
  params: { id: 'text' },
})

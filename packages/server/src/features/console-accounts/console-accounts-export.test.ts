import { AccountExport, apiKeysApi, type Scope } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Queries } from '../../database/database.ts'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { createIds } from '../../kernel/ids.ts'
import { type Desk, openDesk } from '../../testing/desk.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { createConsoleAccounts } from './console-accounts.service.ts'

describe.each(testBackends)('the export of an account on $name', (backend) => {
  let scenario: Scenario
  let desk: Desk
  beforeAll(async () => {
    scenario = await openScenario(backend)
    desk = await openDesk(scenario.api)
    return () => scenario.dispose()
  })

  const keyWith = async (...scopes: Scope[]) => {
    const body = { name: 'ci', scopes, expires_at: null }
    const { status, body: made, text } = await desk.send('POST', '/api-keys', body)
    if (status !== 201) throw new Error(text)
    return apiKeysApi.create.ok.parse(made).secret
  }
  const exportTo = (token: string, id: string, method = 'GET') =>
    scenario.api.call(method, `/console/v1/accounts/${id}/export`, { token })

  it('[H-ACC-8] [H-ACC-9] has the detail and all that belongs to the account, as a file', async () => {
    const now = scenario.clock.nowUnixMs()
    const ada = await scenario.signUp('ada')
    const bob = await scenario.signUp('bob')
    await desk.send('PUT', `/accounts/${ada.user_id}`, { metadata: { level: 9 } })
    await desk.send('POST', `/accounts/${ada.user_id}/friends`, { user_id: bob.user_id })
    for (const [currency, delta] of [
      ['gold', 7],
      ['copper', 9],
    ] as const) {
      await desk.send('POST', `/accounts/${ada.user_id}/wallet`, { currency, delta })
    }
    for (const name of ['zeta', 'alpha']) {
      await desk.send('POST', '/groups', { name, creator_user_id: ada.user_id })
    }
    const answer = await exportTo(desk.token, ada.user_id)
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="account.json"')
    expect(answer.headers.get('content-type')).toBe('application/json')
    const detail = await desk.send('GET', `/accounts/${ada.user_id}`)
    const { related, ...rest } = AccountExport.parse(answer.body)
    expect(rest).toEqual(detail.body)
    const { groups, ...others } = related
    expect(others).toEqual({
      wallet: { copper: 9n, gold: 7n },
      friends: [{ user_id: bob.user_id, state: 'invited_sent', updated_unix_ms: now }],
      storage: [],
    })
    expect(groups).toMatchObject([
      { name: 'zeta', role: 'superadmin', joined_at_unix_ms: now },
      { name: 'alpha', role: 'superadmin', joined_at_unix_ms: now },
    ])
    expect(await desk.trailOf(`account ${ada.user_id}`)).toHaveLength(4)
  })

  it('[H-ACC-9] [H-WAL-1] lists currencies by their bytes, also those that look like numbers', async () => {
    const { user_id: id } = await scenario.signUp()
    for (const currency of ['b', '9', '10', 'B', '2']) {
      await desk.send('POST', `/accounts/${id}/wallet`, { currency, delta: 1 })
    }
    const balances = '{"10":1,"2":1,"9":1,"B":1,"b":1}'
    expect((await exportTo(desk.token, id)).text).toContain(`"wallet":${balances}`)
    const wallet = await desk.send('GET', `/accounts/${id}/wallet`)
    expect(wallet.text).toContain(`{"balances":${balances}`)
  })

  it('[H-ACC-10] shows an API key only what its other scopes show', async () => {
    const { user_id: id } = await scenario.signUp()
    await desk.send('POST', '/groups', { name: `of ${id}`, creator_user_id: id })
    const seenBy = async (...scopes: Scope[]) => {
      const answer = await exportTo(await keyWith('accounts:read', ...scopes), id)
      const { groups, storage } = AccountExport.parse(answer.body).related
      return [groups?.length ?? null, storage]
    }
    expect(await seenBy()).toEqual([null, null])
    expect(await seenBy('groups:read')).toEqual([1, null])
    expect(await seenBy('storage:read')).toEqual([null, []])
    expect(await seenBy('storage:read', 'groups:read')).toEqual([1, []])
    expect((await exportTo(await keyWith('groups:read'), id)).status).toBe(403)
  })

  it('[H-GEN-27] names the file for HEAD too, and only with a success', async () => {
    const { user_id: id } = await scenario.signUp()
    const [got, head] = [await exportTo(desk.token, id), await exportTo(desk.token, id, 'HEAD')]
    expect([head.status, head.text]).toEqual([200, ''])
    for (const name of ['content-disposition', 'content-type', 'content-length', 'cache-control']) {
      expect([name, head.headers.get(name)]).toEqual([name, got.headers.get(name)])
    }
    for (const refused of [await exportTo(desk.token, 'user-0'), await exportTo('no-token', id)]) {
      expect(refused.status).toBeGreaterThanOrEqual(400)
      expect(refused.headers.get('content-disposition')).toBeNull()
    }
  })

  // The embedded backends let nobody write while the export's transaction is open.
  it.runIf(backend.name === 'postgres')(
    '[H-ACC-8] is one state, whatever is committed while it is read',
    async () => {
      const { db, clock } = scenario
      const { user_id: id } = await scenario.signUp('before')
      const unused = () => Promise.reject(new Error('an export changes nothing'))
      const nameOf = async (tx: Queries) => (await tx.get(usernameOf, { id }))?.username
      const names: (string | undefined)[] = []
      const accounts = createConsoleAccounts({
        db,
        clock,
        ids: createIds({ clock, nodeId: 'test', bootId: 'bt1-test' }),
        mutate: unused,
        writeJson: String,
        readJson: () => null,
        revokeSessions: unused,
        closeSessions: () => {},
        async walletOf() {
          await db.run(rename, { id, username: 'after' })
          names.push(await nameOf(db))
          return new Map<string, bigint>()
        },
        friendsOf: async () => [],
        async groupsOf(tx) {
          names.push(await nameOf(tx))
          return []
        },
        storageOf: async () => [],
      })
      const operator = { kind: 'human', username: 'admin', role: 'viewer' } as const
      const exported = await accounts.export(operator, id)
      expect([exported.username, ...names]).toEqual(['before', 'after', 'before'])
    },
  )
})

const usernameOf = statement({
  name: 'tests.username-of',
  text: 'SELECT username FROM accounts WHERE id = :id',
  params: { id: 'text' },
  row: { username: 'text' },
})

const rename = statement({
  name: 'tests.rename',
  text: 'UPDATE accounts SET username = :username WHERE id = :id',
  params: { id: 'text', username: 'text' },
})

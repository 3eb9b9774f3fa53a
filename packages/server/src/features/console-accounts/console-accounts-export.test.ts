import { AccountExport, apiKeysApi, type Scope } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Queries } from '../../database/database.ts'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { createIds } from '../../kernel/ids.ts'
import { countTurns } from '../../kernel/time/turns.fixture.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import type { RelatedReads } from '../feature.ts'
import { createConsoleAccounts } from './console-accounts.service.ts'

describe.each(testBackends)('the export of an account on $name', (backend) => {
  let scenario: Scenario
  let operator: Operator
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openOperator(scenario.api)
    return () => scenario.dispose()
  })

  const keyWith = async (...scopes: Scope[]) => {
    const body = { name: 'ci', scopes, expires_at: null }
    const { status, body: made, text } = await operator.send('POST', '/api-keys', body)
    if (status !== 201) throw new Error(text)
    return apiKeysApi.create.ok.parse(made).secret
  }
  const exportTo = (token: string, id: string, method = 'GET') =>
    scenario.api.call(method, `/console/v1/accounts/${id}/export`, { token })

  /** The service alone, with what a test has to say about what belongs to an account. */
  const exporting = (related: Partial<RelatedReads>) => {
    const { db, clock } = scenario
    const unused = () => Promise.reject(new Error('an export changes nothing'))
    return createConsoleAccounts({
      db,
      clock,
      ids: createIds({ clock, nodeId: 'test', bootId: 'bt1-test' }),
      mutate: unused,
      revokeSessions: unused,
      forgetLastSeen: unused,
      endSessions: unused,
      related: {
        wallet: { read: async () => new Map<string, bigint>() },
        friends: { read: async () => [] },
        groups: { read: async () => [] },
        storage: { read: async () => [] },
        ...related,
      },
    })
  }

  it('[H-ACC-8] [H-ACC-9] has the detail and all that belongs to the account, as a file', async () => {
    const now = scenario.clock.nowUnixMs()
    const ada = await scenario.signUp('ada')
    const bob = await scenario.signUp('bob')
    await operator.send('PUT', `/accounts/${ada.user_id}`, { metadata: { level: 9 } })
    await operator.send('POST', `/accounts/${ada.user_id}/friends`, { user_id: bob.user_id })
    for (const [currency, delta] of [
      ['gold', 7],
      ['copper', 9],
    ] as const) {
      await operator.send('POST', `/accounts/${ada.user_id}/wallet`, { currency, delta })
    }
    for (const name of ['zeta', 'alpha']) {
      await operator.send('POST', '/groups', { name, creator_user_id: ada.user_id })
    }
    const answer = await exportTo(operator.token, ada.user_id)
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="account.json"')
    expect(answer.headers.get('content-type')).toBe('application/json')
    const detail = await operator.send('GET', `/accounts/${ada.user_id}`)
    const { related, ...rest } = AccountExport().parse(answer.body)
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
    expect(await operator.trailOf(`account ${ada.user_id}`)).toHaveLength(4)
  })

  it('[H-ACC-9] [H-WAL-1] lists currencies by their bytes, also those that look like numbers', async () => {
    const { user_id: id } = await scenario.signUp()
    for (const currency of ['b', '9', '10', 'B', '2']) {
      await operator.send('POST', `/accounts/${id}/wallet`, { currency, delta: 1 })
    }
    const balances = '{"10":1,"2":1,"9":1,"B":1,"b":1}'
    expect((await exportTo(operator.token, id)).text).toContain(`"wallet":${balances}`)
    const wallet = await operator.send('GET', `/accounts/${id}/wallet`)
    expect(wallet.text).toContain(`{"balances":${balances}`)
  })

  it('[H-ACC-10] shows an API key only what its other scopes show', async () => {
    const { user_id: id } = await scenario.signUp()
    await operator.send('POST', '/groups', { name: `of ${id}`, creator_user_id: id })
    const seenBy = async (...scopes: Scope[]) => {
      const answer = await exportTo(await keyWith('accounts:read', ...scopes), id)
      const { groups, storage } = AccountExport().parse(answer.body).related
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
    const [got, head] = [
      await exportTo(operator.token, id),
      await exportTo(operator.token, id, 'HEAD'),
    ]
    expect([head.status, head.text]).toEqual([200, ''])
    for (const name of ['content-disposition', 'content-type', 'content-length', 'cache-control']) {
      expect([name, head.headers.get(name)]).toEqual([name, got.headers.get(name)])
    }
    for (const refused of [
      await exportTo(operator.token, 'user-0'),
      await exportTo('no-token', id),
    ]) {
      expect(refused.status).toBeGreaterThanOrEqual(400)
      expect(refused.headers.get('content-disposition')).toBeNull()
    }
  })

  it('[H-ACC-8] [H-ACC-9] shows each of many objects, and lets others go on meanwhile', async () => {
    const { user_id: id } = await scenario.signUp()
    const { user_id: stranger } = await scenario.signUp()
    const count = 2001
    for (const user_id of [id, stranger]) await scenario.db.run(putObjects, { user_id, count })
    const numbers = Array.from({ length: count }, (_, at) => String(at + 1).padStart(5, '0'))
    const objects = ['a', 'b'].flatMap((collection) =>
      numbers
        .filter((number) => (Number(number) % 2 === 1) === (collection === 'a'))
        .map((key) => ({ collection, key, version: 'é' })),
    )
    const answer = await exportTo(operator.token, id)
    expect(AccountExport().parse(answer.body).related.storage).toEqual(objects)
    expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(answer.text)))

    const read: RelatedReads['storage']['read'] = (tx, user_id) => tx.all(objectsOf, { user_id })
    const accounts = exporting({ storage: { read } })
    const turns = countTurns()
    const { related } = await accounts.export(actor, id)
    turns.stop()
    expect(turns.count).toBeGreaterThanOrEqual(4)
    expect(related.storage).toEqual(objects)
  })

  // In memory nobody can write before the export has ended.
  it.skipIf(backend.name === 'in-memory')(
    '[H-ACC-8] is one state, whatever is committed while it is read',
    async () => {
      const { db } = scenario
      const { user_id: id } = await scenario.signUp('before')
      const nameOf = async (tx: Queries) => (await tx.get(usernameOf, { id }))?.username
      const names: (string | undefined)[] = []
      const accounts = exporting({
        wallet: {
          async read() {
            await db.run(rename, { id, username: 'after' })
            names.push(await nameOf(db))
            return new Map<string, bigint>()
          },
        },
        groups: {
          async read(tx) {
            names.push(await nameOf(tx))
            return []
          },
        },
      })
      const exported = await accounts.export(actor, id)
      expect([exported.username, ...names]).toEqual(['before', 'after', 'before'])
    },
  )
})

const actor = { kind: 'human', username: 'admin', role: 'viewer' } as const

const counted = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)`
const numbered = `substr('0000' || n.i, length('0000' || n.i) - 4)`

const putObjects = statement({
  name: 'tests.put-objects',
  text: `INSERT INTO storage_objects (collection, user_id, key, version, read_permission,
      write_permission, bytes, value)
    ${counted}
    SELECT CASE WHEN n.i % 2 = 0 THEN 'b' ELSE 'a' END, :user_id, ${numbered}, 'é', 1, 1, 2, '{}'
    FROM n ORDER BY n.i DESC`,
  params: { user_id: 'text', count: 'integer' },
})

const objectsOf = statement({
  name: 'tests.objects-of',
  text: `SELECT collection, key, version FROM storage_objects WHERE user_id = :user_id
    ORDER BY collection, key`,
  params: { user_id: 'text' },
  row: { collection: 'text', key: 'text', version: 'text' },
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

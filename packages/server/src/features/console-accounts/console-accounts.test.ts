import { AccountDetail, AccountRow, consoleAccountsApi } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'

const notFound = [404, { code: 'not_found', message: 'not found' }]
const taken = [409, { code: 'conflict', message: 'username is taken' }]

describe.each(testBackends)('accounts at the console on $name', (backend) => {
  let scenario: Scenario
  let operator: Operator
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openOperator(scenario.api)
    return () => scenario.dispose()
  })

  const detail = async (id: string) =>
    AccountDetail().parse((await operator.send('GET', `/accounts/${id}`)).body)
  const make = async (body: object) =>
    AccountRow().parse((await operator.send('POST', '/accounts', body)).body)
  const trailOf = (id: string) => operator.trailOf(`account ${id}`)
  /** Everything that a refused change must leave as it was. */
  const everything = async () => [
    await scenario.rowsOf('accounts'),
    (await operator.send('GET', '/audit?limit=500&action=accounts.')).body,
  ]

  it('[H-ACC-1] [H-ACC-3] adds an account without a credential', async () => {
    const now = scenario.clock.nowUnixMs()
    const body = { username: 'ana', display_name: 'Ana', metadata: { level: 3 } }
    const answer = await operator.send('POST', '/accounts', body)
    const { id } = AccountRow().parse(answer.body)
    const row = {
      id,
      username: 'ana',
      display_name: 'Ana',
      state: 'active',
      created_at_unix_ms: now,
      updated_at_unix_ms: now,
    }
    expect([answer.status, answer.body]).toEqual([201, row])
    expect(id).toMatch(/^user-[0-9a-f]{32}$/)
    expect(await detail(id)).toEqual({ ...row, metadata: { level: 3 }, identities: [] })
    expect(await scenario.rowsOf('identities', `account_id = '${id}'`)).toEqual([])
    expect(await trailOf(id)).toEqual([['accounts.create', 'username=ana']])
    const plain = await make({ username: ' plain ', display_name: null, metadata: null })
    expect(await detail(plain.id)).toMatchObject({
      username: ' plain ',
      display_name: null,
      metadata: null,
    })
  })

  it('[H-GEN-16] keeps the integers of metadata exact, and its members whatever their names', async () => {
    const metadata = '{"max":9223372036854775807,"half":0.5,"__proto__":{"deep":[null,"\\u00e4"]}}'
    const answer = await operator.send(
      'POST',
      '/accounts',
      `{"username":"exact","metadata":${metadata}}`,
    )
    const { id } = AccountRow().parse(answer.body)
    const { text } = await operator.send('GET', `/accounts/${id}`)
    expect(text).toContain('"max":9223372036854775807')
    expect(text).toContain('"half":0.5')
    expect(text).toContain('"__proto__":{"deep":[null,"ä"]}')
  })

  it('[H-ACC-1] shows credentials by provider, time and external id, and nothing secret', async () => {
    const email = { email: ' Ada@Example.COM ', password: 'correct horse' }
    const body = { ...email, create: true, username: 'ada' }
    await scenario.api.call('POST', '/v1/auth/email', { body })
    const { items } = consoleAccountsApi.list.ok.parse(
      (await operator.send('GET', '/accounts?filter=ada')).body,
    )
    // An id may contain the letters too: all three are hexadecimal digits.
    const id = items.find(({ username }) => username === 'ada')?.id ?? ''
    const now = scenario.clock.nowUnixMs()
    const answer = await operator.send('GET', `/accounts/${id}`)
    expect(AccountDetail().parse(answer.body).identities).toEqual([
      { provider: 'email', external_id: 'ada@example.com', created_at_unix_ms: now },
    ])
    expect(answer.text).not.toMatch(/argon2|verifier|digest/)
    for (const [provider, external_id, later] of [
      ['device', 'd-2', 0],
      ['custom', 'c-late', 2],
      ['device', 'd-1', 0],
      ['custom', 'c-early', 1],
    ] as const) {
      const created_at_unix_ms = now + later
      await scenario.db.run(link, { provider, external_id, account_id: id, created_at_unix_ms })
    }
    const { identities } = await detail(id)
    expect(identities.map(({ external_id }) => external_id)).toEqual([
      'c-early',
      'c-late',
      'd-1',
      'd-2',
      'ada@example.com',
    ])
  })

  it.each([
    ['no username', {}],
    ['null for the username', { username: null }],
    ['a blank username', { username: ' ' }],
    ['a username of 129 bytes', { username: `${'é'.repeat(64)}x` }],
    ['a username with a control character', { username: 'a\u0085b' }],
    ['a username that is no text', { username: 7 }],
    ['an empty display_name', { username: 'never', display_name: '' }],
    ['a blank display_name', { username: 'never', display_name: '  ' }],
    ['a display_name of 256 bytes', { username: 'never', display_name: 'x'.repeat(256) }],
    ['metadata that is no object', { username: 'never', metadata: [] }],
    ['metadata that is a text', { username: 'never', metadata: 'x' }],
    ['an unknown field', { username: 'never', state: 'active' }],
    ['an id of its own', { username: 'never', id: 'user-1' }],
    ['no object', []],
  ])('[H-ACC-3] refuses to add one with %s', async (_case, body) => {
    const before = await everything()
    expect((await operator.send('POST', '/accounts', body)).status).toBe(400)
    expect(await everything()).toEqual(before)
  })

  it('[H-ACC-3] takes names up to their bounds in bytes', async () => {
    const body = { username: 'é'.repeat(64), display_name: `x${'é'.repeat(127)}` }
    expect((await operator.send('POST', '/accounts', body)).body).toMatchObject(body)
  })

  it.each(['active', 'disabled', 'tombstoned'] as const)(
    '[H-ACC-3] [H-ACC-4] refuses the username of an account that is %s',
    async (state) => {
      const owner = await make({ username: `owned-${state}` })
      const other = await make({ username: `other-${state}` })
      await scenario.setState(owner.id, state)
      const before = await everything()
      const adding = await operator.send('POST', '/accounts', { username: owner.username })
      expect([adding.status, adding.body]).toEqual(taken)
      const renaming = await operator.send('PUT', `/accounts/${other.id}`, {
        username: owner.username,
        display_name: 'half done',
      })
      expect([renaming.status, renaming.body]).toEqual(taken)
      expect(await everything()).toEqual(before)
    },
  )

  it('[H-ACC-3] gives a username to one of many who ask at the same time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => operator.send('POST', '/accounts', { username: 'wanted' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)])
    expect(await scenario.rowsOf('accounts', "username = 'wanted'")).toHaveLength(1)
  })

  describe('PUT', () => {
    it('[H-ACC-4] changes what is sent, leaves what is absent or null, and moves updated_at', async () => {
      const { id } = await make({ username: 'put', display_name: 'Put', metadata: { a: 1, b: 2 } })
      const put = (body: object) => operator.send('PUT', `/accounts/${id}`, body)
      const created_at_unix_ms = scenario.clock.nowUnixMs()
      await scenario.clock.advance(1000)
      const row = { id, state: 'active', created_at_unix_ms }
      const updated_at_unix_ms = created_at_unix_ms + 1000
      const renamed = await put({ username: 'put-2', display_name: null, metadata: null })
      const expected = { ...row, username: 'put-2', display_name: 'Put', updated_at_unix_ms }
      expect([renamed.status, renamed.body]).toEqual([200, expected])
      expect(await detail(id)).toMatchObject({ ...expected, metadata: { a: 1, b: 2 } })

      await put({ metadata: { c: 3 }, display_name: '' })
      expect(await detail(id)).toMatchObject({ display_name: null, metadata: { c: 3 } })
      await put({ metadata: {}, username: 'put-2', display_name: 'Again' })
      expect(await detail(id)).toMatchObject({ display_name: 'Again', metadata: {} })

      await scenario.clock.advance(1000)
      const touched = await put({})
      expect(touched.body).toEqual({
        ...expected,
        display_name: 'Again',
        updated_at_unix_ms: updated_at_unix_ms + 1000,
      })
      expect((await trailOf(id)).slice(1)).toEqual([
        ['accounts.update', 'fields=username'],
        ['accounts.update', 'fields=display_name,metadata'],
        ['accounts.update', 'fields=username,display_name,metadata'],
        ['accounts.update', 'fields='],
      ])
    })

    it.each([
      ['a blank username', { username: '  ' }],
      ['an empty username', { username: '' }],
      ['a username of 129 bytes', { username: 'x'.repeat(129) }],
      ['a blank display_name', { display_name: ' ' }],
      ['a display_name of 256 bytes', { display_name: 'x'.repeat(256) }],
      ['a control character', { display_name: 'a\nb' }],
      ['metadata that is no object', { metadata: 1 }],
      ['a state', { state: 'disabled' }],
    ])('[H-ACC-4] refuses %s', async (_case, body) => {
      const { user_id: id } = await scenario.signUp()
      await scenario.clock.advance(10)
      const before = await everything()
      expect((await operator.send('PUT', `/accounts/${id}`, body)).status).toBe(400)
      expect(await everything()).toEqual(before)
    })

    it.each(['disabled', 'tombstoned'] as const)('[H-ACC-4] works when %s', async (state) => {
      const { user_id } = await scenario.signUp()
      await scenario.setState(user_id, state)
      const answer = await operator.send('PUT', `/accounts/${user_id}`, { display_name: state })
      expect([answer.status, answer.body]).toMatchObject([200, { display_name: state, state }])
    })
  })

  it('[H-ACC-7] knows no unknown account and takes no blank id', async () => {
    const before = await everything()
    for (const [method, of] of [
      ['GET', ''],
      ['GET', '/export'],
      ['PUT', ''],
      ['POST', '/ban'],
      ['POST', '/unban'],
      ['DELETE', ''],
    ] as const) {
      const ask = (id: string) =>
        operator.send(method, `/accounts/${id}${of}`, method === 'PUT' ? {} : undefined)
      const unknown = await ask('user-0')
      expect([method, of, unknown.status, unknown.body]).toEqual([method, of, ...notFound])
      for (const id of ['%20', '%C2%A0%09', '%00', 'x'.repeat(1025)]) {
        expect([method, of, (await ask(id)).status]).toEqual([method, of, 400])
      }
      expect((await ask('x'.repeat(1024))).status).toBe(404)
    }
    expect(await everything()).toEqual(before)
    expect(scenario.api.failures).toEqual([])
  })

  it('[H-IDM-3] does a repeated change once', async () => {
    const headers = { 'idempotency-key': 'once' }
    const body = { username: 'once' }
    const first = await operator.send('POST', '/accounts', body, headers)
    const again = await operator.send('POST', '/accounts', body, headers)
    expect([again.status, again.body]).toEqual([201, first.body])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    const { id } = AccountRow().parse(first.body)
    for (const [method, of] of [
      ['POST', '/ban'],
      ['POST', '/unban'],
      ['DELETE', ''],
    ] as const) {
      const answers = []
      for (let i = 0; i < 2; i += 1) {
        answers.push(await operator.send(method, `/accounts/${id}${of}`, undefined, headers))
      }
      expect(answers[1]?.text).toBe(answers[0]?.text)
      expect(answers.map((each) => each.headers.get('idempotency-replayed'))).toEqual([
        null,
        'true',
      ])
    }
    expect((await trailOf(id)).map(([action]) => action)).toEqual([
      'accounts.create',
      'accounts.ban',
      'accounts.unban',
      'accounts.delete',
    ])
    const other = await operator.send('POST', '/accounts', { username: 'twice' }, headers)
    expect(other.status).toBe(409)
  })
})

const link = statement({
  name: 'tests.link-identity',
  text: `INSERT INTO identities (provider, external_id, account_id, created_at_unix_ms)
    VALUES (:provider, :external_id, :account_id, :created_at_unix_ms)`,
  params: {
    provider: 'text',
    external_id: 'text',
    account_id: 'text',
    created_at_unix_ms: 'integer',
  },
})

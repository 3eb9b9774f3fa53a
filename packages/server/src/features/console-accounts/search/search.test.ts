import { consoleAccountsApi } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { batchStatement } from '../../../database/statement.ts'
import { testBackends } from '../../../database/testing/backends.ts'
import { type Operator, openOperator } from '../../../testing/operator.ts'
import { openScenario, type Scenario } from '../../../testing/scenario.ts'

/** As a binary of before did it: without the folded name. */
const insertOld = batchStatement({
  name: 'tests.insert-old-accounts',
  text: `INSERT INTO accounts (id, username, display_name, state, created_at_unix_ms,
      updated_at_unix_ms)
    SELECT r.id, r.id, r.display_name, r.state, r.at, r.at FROM {{rows}} AS r`,
  params: { id: 'text', display_name: 'text?', state: 'text', at: 'time' },
})

describe.each(testBackends)('accounts are found on $name', (backend) => {
  let scenario: Scenario
  let operator: Operator
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openOperator(scenario.api)
    return () => scenario.dispose()
  })

  const ask = (query: Record<string, string>, path = '/account-search') =>
    operator.send('GET', `${path}?${new URLSearchParams(query)}`)
  const find = async (query: Record<string, string>) =>
    consoleAccountsApi.search.ok.parse((await ask(query)).body)
  const namesOf = async (query: Record<string, string>) =>
    (await find(query)).items.map(({ username }) => username).sort()

  it('[H-OPS-4] by the beginning of the display name, whatever its case, on all ways it is set', async () => {
    const ada = await scenario.signUp('ada')
    const bo = await scenario.signUp('bo')
    const rename = (token: string, body: object) =>
      scenario.api.call('PATCH', '/v1/account', { token, body })
    await rename(ada.token, { display_name: 'Ürsula 100%' })
    await rename(bo.token, { display_name: 'ÜRSULA_2', username: 'bo2' })
    await operator.send('POST', '/accounts', { username: 'cy', display_name: 'ürsula' })
    await operator.send('POST', '/accounts', { username: 'dan', display_name: 'ursula' })
    expect(await namesOf({ display_name: 'üRS' })).toEqual(['ada', 'bo2', 'cy'])
    expect(await namesOf({ display_name: 'ÜRSULA 100%' })).toEqual(['ada'])
    expect(await namesOf({ display_name: 'ürsula%' })).toEqual([])
    const [cy] = (await find({ display_name: 'ürsula' })).items.filter((it) => it.username === 'cy')
    await operator.send('PUT', `/accounts/${cy?.id}`, { metadata: { a: 1 } })
    expect(await namesOf({ display_name: 'ürsula' })).toContain('cy')
    await operator.send('PUT', `/accounts/${cy?.id}`, { display_name: 'Other' })
    expect(await namesOf({ display_name: 'ürsula' })).not.toContain('cy')
    expect(await namesOf({ display_name: 'oTHER' })).toEqual(['cy'])
    await operator.send('PUT', `/accounts/${cy?.id}`, { display_name: '' })
    expect(await namesOf({ display_name: 'other' })).toEqual([])
  })

  it('[H-OPS-4] by the beginning of the username, page by page in the order of its bytes', async () => {
    const names = ['50%', '50%\uffee', '50%🏰', '50% off', '50%B', '50%b'].map(
      (name) => `pre ${name}`,
    )
    for (const username of [...names, 'pre 500', 'Pre 50%', 'a pre 50%']) {
      await operator.send('POST', '/accounts', { username })
    }
    const found: string[] = []
    for (let after: string | undefined = ''; after !== undefined; ) {
      const { items, next_after } = await find({
        ...{ username_prefix: 'pre 50%', limit: '2' },
        ...(after !== '' && { after }),
      })
      found.push(...items.map(({ username }) => username))
      after = next_after
    }
    const bytes = (one: string, other: string) =>
      Buffer.compare(Buffer.from(one), Buffer.from(other))
    expect(found).toEqual(names.toSorted(bytes))
    expect(await namesOf({ username_prefix: 'pre _' })).toEqual([])
    expect(await namesOf({ username_prefix: 'pre 500', after: 'a' })).toEqual(['pre 500'])
  })

  it('[H-OPS-4] by a credential, exactly, an address as it is stored', async () => {
    const { device } = await scenario.signUp('by-device')
    const register = (kind: string, body: object) =>
      scenario.api.call('POST', `/v1/auth/${kind}`, { body: { create: true, ...body } })
    await register('custom', { id: 'Studio-7', username: 'by-custom' })
    const email = { email: 'Eve@Example.com', password: 'a long password' }
    await register('email', { ...email, username: 'by-email' })
    expect(await namesOf({ device_id: device })).toEqual(['by-device'])
    expect(await namesOf({ device_id: device.slice(0, -1) })).toEqual([])
    expect(await namesOf({ custom_id: 'Studio-7' })).toEqual(['by-custom'])
    expect(await namesOf({ custom_id: 'studio-7' })).toEqual([])
    expect(await namesOf({ email: ' EVE@example.COM ' })).toEqual(['by-email'])
    expect(await namesOf({ email: 'eve@example.org' })).toEqual([])
  })

  it('[H-OPS-4] by state and time, both ends included, page by page in the order of ids', async () => {
    const rows = Array.from({ length: 40 }, (_, index) => ({
      id: `old-${String((index * 7) % 40).padStart(2, '0')}`,
      display_name: null,
      state: ['active', 'disabled', 'tombstoned'][index % 3] ?? '',
      at: 1000 + index,
    }))
    await scenario.db.each(insertOld, rows)
    const expected = (state: string | undefined, from: number, to: number) =>
      rows
        .filter(
          (row) => (state === undefined || row.state === state) && row.at >= from && row.at <= to,
        )
        .map(({ id }) => id)
        .sort()
    for (const [state, from, to] of [
      [undefined, 1000, 1039],
      [undefined, 1010, 1010],
      ['disabled', 1003, 1030],
      ['active', 1000, 1039],
    ] as const) {
      const query = { created_from: String(from), created_to: String(to), ...(state && { state }) }
      const found: string[] = []
      let page = await find({ ...query, limit: '3' })
      for (;;) {
        found.push(...page.items.map(({ id }) => id))
        if (page.next_after === undefined) break
        page = await find({ ...query, limit: '3', after: page.next_after })
      }
      expect(found).toEqual(expected(state, from, to))
    }
    expect(await namesOf({ state: 'tombstoned', limit: '200' })).toEqual(
      expected('tombstoned', 0, 9999),
    )
    expect(await namesOf({ state: 'active', after: 'old-2', limit: '3' })).toEqual(
      expected('active', 0, 9999)
        .filter((id) => id > 'old-2')
        .slice(0, 3),
    )
  })

  it('[H-OPS-4] refuses what is empty, unknown, or asked twice', async () => {
    for (const query of [
      {},
      { display_name: '' },
      { email: '' },
      { email: 'no address' },
      { username_prefix: '' },
      { username_prefix: 'a', display_name: 'a' },
      { device_id: '' },
      { custom_id: '' },
      { state: '' },
      { state: 'banned' },
      { created_from: '' },
      { created_from: '-1' },
      { created_to: '1e3' },
      { display_name: 'a', email: 'a@b.c' },
      { device_id: 'a', state: 'active' },
      { custom_id: 'a', created_to: '1' },
      { state: 'active', after: '' },
      { username: 'a' },
    ] as Record<string, string>[]) {
      expect([query, (await ask(query)).status]).toEqual([query, 400])
    }
  })

  it('[H-OPS-4] the list takes exactly an id or a username', async () => {
    const eve = await scenario.signUp('eve')
    await scenario.signUp('eve2')
    const list = async (query: Record<string, string>) => {
      const { items, total } = consoleAccountsApi.list.ok.parse(
        (await ask(query, '/accounts')).body,
      )
      return [total, ...items.map(({ username }) => username)]
    }
    expect(await list({ username: 'eve' })).toEqual([1, 'eve'])
    expect(await list({ id: eve.user_id })).toEqual([1, 'eve'])
    expect(await list({ id: eve.user_id, username: 'eve2' })).toEqual([0])
    expect(await list({ username: 'Eve' })).toEqual([0])
    expect(await list({ username: 'eve', offset: '1' })).toEqual([1])
    expect((await ask({ id: '' }, '/accounts')).status).toBe(400)
  })

  it('[H-OPS-4] names from before are found once the task has folded them', async () => {
    const rows = Array.from({ length: 1203 }, (_, index) => ({
      id: `before-${index}`,
      display_name: `VETERAN ${index}`,
      state: 'active',
      at: 1,
    }))
    await scenario.db.each(insertOld, rows)
    expect(await namesOf({ display_name: 'veteran' })).toEqual([])
    await scenario.api.runTask('account-names')
    expect(await namesOf({ display_name: 'veteran 1202' })).toEqual(['before-1202'])
    expect(await namesOf({ display_name: 'veteran', limit: '200' })).toHaveLength(200)
  })
})

import { consoleAccountsApi } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { batchStatement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { createAccountCount } from './console-accounts.jobs.ts'

describe.each(testBackends)('the list of accounts on $name', (backend) => {
  let scenario: Scenario
  let operator: Operator
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openOperator(scenario.api)
    return () => scenario.dispose()
  })

  const ask = (query: Record<string, string>) =>
    operator.send('GET', `/accounts?${new URLSearchParams(query)}`)
  const list = async (query: Record<string, string>) => {
    const { items, total } = consoleAccountsApi.list.ok.parse((await ask(query)).body)
    return { names: items.map(({ username }) => username), total }
  }
  const add = (ids: readonly string[], name = (id: string) => `name of ${id}`) => {
    const rows = ids.map((id) => ({ id, username: name(id) }))
    return scenario.db.each(insertAccounts, rows)
  }

  it('[H-ACC-2] is in order of the usernames’ bytes, with accounts in every state', async () => {
    expect(await list({})).toEqual({ names: [], total: 0 })
    const names = ['b', 'B', 'a', '_', 'ä', 'z', 'a b', '0', '🏰', '\uffee', 'aa']
    await add(names, (id) => `order ${id}`)
    await scenario.setState('b', 'disabled')
    await scenario.setState('B', 'tombstoned')
    const byBytes = names
      .map((name) => Buffer.from(`order ${name}`))
      .sort(Buffer.compare)
      .map(String)
    expect(await list({})).toEqual({ names: byBytes, total: names.length })
    const { body } = await ask({ filter: 'order B' })
    expect(body).toEqual({
      items: [
        {
          id: 'B',
          username: 'order B',
          display_name: null,
          state: 'tombstoned',
          created_at_unix_ms: 0,
          updated_at_unix_ms: 0,
        },
      ],
      total: 1,
    })
  })

  it('[H-ACC-2] pages, and counts all matches before it does', async () => {
    const { names, total } = await list({})
    for (const [query, expected] of [
      [{ limit: '2' }, names.slice(0, 2)],
      [{ limit: '3', offset: '2' }, names.slice(2, 5)],
      [{ limit: '0' }, names.slice(0, 1)],
      [{ offset: String(total - 1) }, names.slice(-1)],
      [{ offset: String(total) }, []],
      [{ offset: '9007199254740991' }, []],
      [{ filter: 'order', offset: '1', limit: '2' }, names.slice(1, 3)],
      [{ filter: 'order', offset: '100' }, []],
      [{ filter: '' }, names],
    ] as const) {
      expect([query, await list(query)]).toEqual([query, { names: expected, total }])
    }
  })

  it('[H-ACC-2] [H-GEN-22] takes the filter for a part of username or id, letter by letter', async () => {
    await add(['50%', '50x', 'a_b', 'axb', 'Äda', 'äda', "it's", 'a\\b'], (id) => `n:${id}`)
    await add(['only-in-the-id'], () => 'another name')
    for (const [filter, names] of [
      ['50%', ['n:50%']],
      ['a_b', ['n:a_b']],
      ['n:Ä', ['n:Äda']],
      ["'", ["n:it's"]],
      ['a\\', ['n:a\\b']],
      ['only-in-the-id', ['another name']],
      ['N:', []],
      ['%', ['n:50%']],
      ['n:50', ['n:50%', 'n:50x']],
      ['nowhere', []],
      ['é'.repeat(512), []],
    ] as const) {
      expect([filter, await list({ filter })]).toEqual([filter, { names, total: names.length }])
    }
  })

  it.each([
    ['limit', ''],
    ['limit', '-1'],
    ['limit', '1.5'],
    ['offset', ''],
    ['offset', '-1'],
    ['offset', '9007199254740992'],
    ['filter', '\0'],
    ['filter', 'x'.repeat(1025)],
    ['state', 'active'],
  ])('[H-GEN-25] [H-GEN-26] refuses %s=%j', async (name, value) => {
    expect((await ask({ [name]: value })).status).toBe(400)
  })

  it('[H-GEN-25] refuses a repeated key', async () => {
    expect((await operator.send('GET', '/accounts?limit=1&limit=1')).status).toBe(400)
  })

  it('[H-ACC-2] is exact in a large table, also beyond the pages at hand', async () => {
    const { total: before } = await list({})
    await add(Array.from({ length: 10_300 }, (_, at) => `large-${10_000 + at}`))
    const total = before + 10_300
    expect((await list({ limit: '1' })).total).toBe(total)
    const stored = (await scenario.rowsOf('accounts')).map(({ username }) => String(username))
    const sorted = stored.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
    for (const offset of [799, 800, 801, 1_000, 10_200, total - 3]) {
      const names = sorted.slice(offset, offset + 200)
      expect(await list({ offset: String(offset), limit: '1000' })).toEqual({ names, total })
    }
    const found = await list({ filter: 'name of large-', offset: '10200', limit: '200' })
    expect([found.total, found.names.at(-1), found.names.length]).toEqual([
      10_300,
      'name of large-20299',
      100,
    ])
  })

  it('[H-ACC-2] counts in batches, gets on with each, and ends behind one when asked to', async () => {
    const counted = async () => Number((await scenario.rowsOf('account_totals'))[0]?.accounts)
    const before = await counted()
    const end = new AbortController()
    let progress = 0
    const run = {
      signal: end.signal,
      progress() {
        progress += 1
        if (progress === 2) end.abort()
      },
    }
    await createAccountCount(scenario.db)(run)
    expect(await counted()).toBe(before + 1000)
  })

  it('[H-ACC-2] counts every account once, whoever counts and whoever comes meanwhile', async () => {
    const task = createAccountCount(scenario.db)
    const count = async () =>
      task({ signal: new AbortController().signal, progress: () => undefined })
    const before = (await list({ limit: '1' })).total
    const totals = new Set<number>()
    let watching = true
    const watch = async () => {
      while (watching) totals.add((await list({ limit: '1' })).total)
    }
    const watched = watch()
    await Promise.all([count(), count(), count()])
    watching = false
    await watched
    expect([...totals]).toEqual([before])
    const [row] = await scenario.rowsOf('account_totals')
    expect(Number(row?.accounts)).toBeGreaterThanOrEqual(before - 1000)

    // Fewer than a thousand are left to be counted with every question.
    await add(Array.from({ length: 700 }, (_, at) => `few-${at}`))
    await count()
    const signUps = Array.from({ length: 5 }, () => scenario.signUp())
    const posts = Array.from({ length: 5 }, (_, at) =>
      operator.send('POST', '/accounts', { username: `posted ${at}` }),
    )
    await Promise.all([...signUps, ...posts, add(['one-more']), count()])
    await operator.send('DELETE', '/accounts/one-more')
    expect((await list({ limit: '1' })).total).toBe(before + 711)
    expect(await scenario.countRows('accounts')).toBe(before + 711)
  })

  it('[H-OPS-1] names accounts by their ids, as asked and each once', async () => {
    await add(['named 1', 'named 2', 'named 3'])
    await scenario.setState('named 2', 'tombstoned')
    const names = (user_ids: string) =>
      operator.send('GET', `/usernames?${new URLSearchParams({ user_ids })}`)
    const row = (user_id: string, state = 'active') => {
      return { user_id, username: `name of ${user_id}`, display_name: null, state }
    }
    const { body } = await names('named 3,nobody,named 1,named 2,named 3, ä')
    expect(body).toEqual({ items: [row('named 3'), row('named 1'), row('named 2', 'tombstoned')] })
    const ids = Array.from({ length: 200 }, (_, at) => `n${at}`)
    expect((await names(ids.join(','))).body).toEqual({ items: [] })
    const refused = ['', ',', 'named 1,', 'named 1,,named 2', [...ids, 'n200'].join(',')]
    for (const list of refused) expect([list, (await names(list)).status]).toEqual([list, 400])
    expect((await operator.send('GET', '/usernames')).status).toBe(400)
  })
})

const insertAccounts = batchStatement({
  name: 'tests.insert-accounts',
  text: `INSERT INTO accounts (id, username, state, created_at_unix_ms, updated_at_unix_ms)
    SELECT r.id, r.username, 'active', 0, 0 FROM {{rows}} AS r`,
  params: { id: 'text', username: 'text' },
})

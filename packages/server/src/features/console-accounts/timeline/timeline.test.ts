import { apiKeysApi, consoleAccountsApi, leaderboardsApi } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { statement } from '../../../database/statement.ts'
import { testBackends } from '../../../database/testing/backends.ts'
import { type Operator, openOperator } from '../../../testing/operator.ts'
import { openScenario, type Scenario, type SignedUp } from '../../../testing/scenario.ts'

/** By the words of each part; an audit entry of a change follows on what it changed. */
const story = [
  'audit: accounts.ban by admin: state=disabled sessions_revoked=1',
  'tournament: entered cup',
  'audit: notifications.send by admin: id=1 code=1',
  'notice: Hello (unread)',
  'audit: accounts.friends.add by admin: other=BOB state=invited_sent',
  'friend: sent an invitation',
  'audit: groups.member.add 1 by admin: role=member',
  'group: joined Owls',
  'purchase: bought gems at store_a',
  'audit: accounts.wallet.adjust by admin: credited gold by 90 -> 90',
  'wallet: +90 gold, 90 after it: gift',
  'sign_in: signed in; the session was ended',
]

/** As a script does it, on behalf of a player. */
const enter = statement({
  name: 'tests.enter-tournament',
  text: `INSERT INTO tournament_entries (tournament_id, user_id, registered_at_unix_ms)
    VALUES ('cup', :user_id, :now_unix_ms)`,
  params: { user_id: 'text', now_unix_ms: 'time' },
})

describe.each(testBackends)('the timeline of an account on $name', (backend) => {
  let scenario: Scenario
  let operator: Operator
  let ada: SignedUp
  let bob: SignedUp
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openOperator(scenario.api)
    ada = await scenario.signUp('ada')
    bob = await scenario.signUp('bob')
    await live()
    return () => scenario.dispose()
  })

  const change = async (method: string, path: string, body?: unknown) => {
    const answer = await operator.send(method, path, body)
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
    // What is done later stands above it.
    await scenario.clock.advance(1000)
    return answer.body as { id: string | number }
  }

  /** One of each part, from the first to the last. */
  async function live(): Promise<void> {
    const { user_id } = ada
    await scenario.clock.advance(1000)
    const amounts = { currency: 'gold', reason: 'gift' }
    await change('POST', `/accounts/${user_id}/wallet`, { ...amounts, delta: 90 })
    const receipt = JSON.stringify({ transaction_id: 'T-1', product_id: 'gems' })
    await change('POST', '/purchases', { user_id, store: 'store_a', receipt })
    const group = { name: 'Owls', open: true, max_size: 9 }
    const { id } = await change('POST', '/groups', group)
    await change('POST', `/groups/${id}/members`, { user_id })
    await change('POST', `/accounts/${user_id}/friends`, { user_id: bob.user_id })
    const notice = { user_id, subject: 'Hello', content: {}, code: 1 }
    await change('POST', '/notifications', notice)
    const ends_at_unix_ms = scenario.clock.nowUnixMs() + 86_400_000
    await change('POST', '/tournaments', {
      id: 'cup',
      leaderboard_id: 'season',
      registration_opens_at_unix_ms: 0,
      registration_closes_at_unix_ms: ends_at_unix_ms,
      starts_at_unix_ms: ends_at_unix_ms,
      ends_at_unix_ms,
    })
    await scenario.db.run(enter, { user_id, now_unix_ms: scenario.clock.nowUnixMs() })
    await scenario.clock.advance(1000)
    await change('POST', `/accounts/${user_id}/ban`)
  }

  const ask = (id: string, query: Record<string, string> = {}, api = operator) =>
    api.send('GET', `/accounts/${id}/timeline?${new URLSearchParams(query)}`)
  const read = async (id: string, query: Record<string, string> = {}) =>
    consoleAccountsApi.timeline.ok.parse((await ask(id, query)).body)

  const wordsOf = ({ kind, text }: { kind: string; text: string }) =>
    `${kind}: ${text.replace(bob.user_id, 'BOB')}`

  it('[H-OPS-7] has all that happened, newest first, in words without ids of the player', async () => {
    const { items, next_after } = await read(ada.user_id, { limit: '200' })
    expect(next_after).toBeUndefined()
    expect(items.map(wordsOf)).toEqual(story)
    expect(items.filter(({ text }) => text.includes(ada.user_id))).toEqual([])
    const times = items.map(({ at_unix_ms }) => at_unix_ms)
    expect(times).toEqual(times.toSorted((a, b) => b - a))
    const refs = new Map(items.map(({ kind, ref }) => [kind, ref]))
    expect(refs.get('friend')).toBe(bob.user_id)
    expect(refs.get('purchase')).toBe('T-1')
    expect(refs.get('tournament')).toBe('cup')
  })

  it('[H-OPS-7] pages of any size are the whole, each entry once', async () => {
    const whole = (await read(ada.user_id, { limit: '200' })).items
    for (const limit of ['1', '2', '5']) {
      const pages = [await read(ada.user_id, { limit })]
      for (;;) {
        const after = pages.at(-1)?.next_after
        if (after === undefined) break
        pages.push(await read(ada.user_id, { limit, after }))
      }
      expect(pages.flatMap(({ items }) => items)).toEqual(whole)
    }
  })

  it('[H-OPS-7] one moment is in the order of kinds', async () => {
    const cat = await scenario.signUp('cat')
    const body = { currency: 'gold', delta: 1, reason: 'same' }
    await operator.send('POST', `/accounts/${cat.user_id}/wallet`, body)
    await operator.send('POST', `/accounts/${cat.user_id}/friends`, { user_id: bob.user_id })
    const kinds = (await read(cat.user_id)).items.map(({ kind }) => kind)
    expect(kinds).toEqual(['audit', 'audit', 'friend', 'sign_in', 'wallet'])
  })

  it('[H-OPS-7] says beside it where the player stands on each board', async () => {
    const scores = { [ada.user_id]: 5, [bob.user_id]: 7 }
    for (const board of ['season', 'empty', 'Ancient']) {
      await operator.send('POST', '/leaderboards', { id: board })
      if (board === 'empty') continue
      for (const [user_id, score] of Object.entries(scores)) {
        await operator.send('POST', `/leaderboards/${board}/records`, { user_id, score })
      }
    }
    const read = async (id: string) =>
      leaderboardsApi.ranks.ok.parse((await operator.send('GET', `/accounts/${id}/ranks`)).body)
        .items
    const shown = (await read(ada.user_id)).map(({ board, rank, score }) => [board, rank, score])
    expect(shown).toEqual([
      ['Ancient', 2, 5n],
      ['season', 2, 5n],
    ])
    expect(await read('user-unknown')).toEqual([])
  })

  it('[H-OPS-7] a key without a scope sees the other parts', async () => {
    const key = { name: 'ci', scopes: ['accounts:read'], expires_at: null }
    const { secret } = apiKeysApi.create.ok.parse(
      (await operator.send('POST', '/api-keys', key)).body,
    )
    const { body } = await scenario.api.call(
      'GET',
      `/console/v1/accounts/${ada.user_id}/timeline`,
      {
        token: secret,
      },
    )
    const { items } = consoleAccountsApi.timeline.ok.parse(body)
    expect(new Set(items.map(({ kind }) => kind))).toEqual(new Set(['friend', 'sign_in', 'wallet']))
  })

  it('[H-OPS-7] refuses what no page has answered with, and knows no unknown account', async () => {
    expect((await ask('user-unknown')).status).toBe(404)
    const text = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const places = [null, [], { wallet: [1] }, { wallet: [1, 'x'] }, { other: [1, '1'] }]
    const forged = [...places, { wallet: [-1, '1'] }, { audit: [1, '\0'] }, { __proto__: [1, '1'] }]
    for (const after of ['', 'a', '{}', ...forged.map(text)]) {
      const { status } = await ask(ada.user_id, { after })
      // An object without places is the first page.
      expect([after, status]).toEqual([after, after === text({}) ? 200 : 400])
    }
  })
})

import { leaderboardsApi } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { readJson } from '../../kernel/json/json-reader.ts'
import type { ApiAnswer } from '../../testing/api.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'

const max = '9223372036854775807'
const min = '-9223372036854775808'

const boardsRefused = [
  {},
  { id: '' },
  { id: null },
  { id: 5 },
  { id: 'a\nb' },
  { id: 'a\u0085' },
  { id: `${'é'.repeat(64)}x` },
  { id: 'x', sort: 'ASC' },
  { id: 'x', operator: 'sum' },
  { id: 'x', operator: '' },
  { id: 'x', reset_schedule: 5 },
  { id: 'x', reset_schedule: `${'é'.repeat(512)}x` },
  { id: 'x', reset_schedule: 'a\u0000' },
  { id: 'x', records: 1 },
  [],
  '',
]

const recordsRefused = [
  '{"score":1}',
  '{"user_id":"u"}',
  '{"user_id":"u","score":null}',
  '{"user_id":"u","score":1.5}',
  '{"user_id":"u","score":1.0}',
  '{"user_id":"u","score":1e3}',
  '{"user_id":"u","score":"1"}',
  '{"user_id":"u","score":9223372036854775808}',
  '{"user_id":"u","score":-9223372036854775809}',
  '{"user_id":"u","score":1,"subscore":9223372036854775808}',
  '{"user_id":"u","score":1,"subscore":true}',
  '{"user_id":"u","score":1,"metadata":[]}',
  '{"user_id":"u","score":1,"metadata":"x"}',
  '{"user_id":"u","score":1,"metadata":1}',
  '{"user_id":"u","score":1,"rank":1}',
  '{"user_id":"u","score":1,"score":2}',
  '{"user_id":"","score":1}',
  '{"user_id":null,"score":1}',
  '{"user_id":"a\\tb","score":1}',
  `{"user_id":"${'é'.repeat(128)}x","score":1}`,
  `{"user_id":"u","score":1,"metadata":${'{"a":'.repeat(64)}1${'}'.repeat(64)}}`,
  '[]',
  '',
]

const ranksBySort = [
  ['asc', ['a', 'é', 'c', 'd', 'b']],
  ['desc', ['b', 'd', 'c', 'a', 'é']],
]

const queriesRefused = [
  '?limit=-1',
  '?limit=',
  '?limit=1.5',
  '?offset=-1',
  '?offset=9007199254740992',
  '?rank=1',
  '?limit=1&limit=2',
]

describe.each(testBackends)('leaderboards on $name', (backend) => {
  let scenario: Scenario
  let operator: Operator
  let made = 0
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openOperator(scenario.api)
    return () => scenario.dispose()
  })
  const pathOf = (id: string, rest = '') => `/leaderboards/${encodeURIComponent(id)}${rest}`
  const create = (body: unknown) => operator.send('POST', '/leaderboards', body)
  const open = async (more: object = {}) => {
    made += 1
    const id = `board-${made}`
    expect((await create({ id, ...more })).status).toBe(201)
    return id
  }
  const submit = (id: string, body: unknown, headers?: Record<string, string>) =>
    operator.send('POST', pathOf(id, '/records'), body, headers)
  const score = (id: string, user: string, value: number | string, more = '') =>
    submit(id, `{"user_id":${JSON.stringify(user)},"score":${value}${more}}`)
  const ranked = async (id: string, query = '') => {
    const answer = await operator.send('GET', pathOf(id, `/records${query}`))
    if (answer.status !== 200) throw new Error(answer.text)
    return leaderboardsApi.records.ok.parse(readJson(answer.text).value)
  }
  const usersOf = async (id: string, query = '') =>
    (await ranked(id, query)).items.map(({ user_id }) => user_id)
  const boardOf = async (id: string) => {
    const { items, total } = leaderboardsApi.list.ok.parse(
      (await operator.send('GET', '/leaderboards')).body,
    )
    expect(total).toBe(items.length)
    return items.find((board) => board.id === id)
  }

  it('[H-LDB-1] opens a board with its defaults, or with the words that were sent', async () => {
    const plain = await create({ id: 'plain', sort: null, operator: null, reset_schedule: null })
    expect(plain.text).toBe(
      '{"id":"plain","sort":"desc","operator":"best","reset_schedule":null,"records":0}',
    )
    const schedule = 'not a schedule \u{1f600}'
    const seen = { id: ' ', sort: 'asc', operator: 'incr', reset_schedule: schedule }
    expect((await create(seen)).body).toEqual({ ...seen, records: 0 })
    expect(await boardOf(' ')).toEqual({ ...seen, records: 0 })
    expect((await create({ id: 'plain' })).status).toBe(409)
    expect((await create({ id: 'plain', sort: 'up' })).status).toBe(400)
    expect(await operator.trailOf('plain')).toEqual([
      ['leaderboards.create', 'sort=desc operator=best'],
    ])
  })

  it('[H-LDB-1] [H-GEN-22] lists boards by the bytes of their ids', async () => {
    const ids = ['z é', 'z \u{1f600}', 'z \uffee', 'z B', 'z b', 'z 10', 'z 9']
    for (const id of ids) expect((await create({ id })).status).toBe(201)
    const { body } = await operator.send('GET', '/leaderboards')
    const listed = leaderboardsApi.list.ok.parse(body).items.map(({ id }) => id)
    expect(listed).toEqual(
      listed.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    )
    expect(listed.filter((id) => id.startsWith('z '))).toHaveLength(ids.length)
  })

  it.each(boardsRefused)('[H-LDB-1] [H-GEN-20] opens no board by %j', async (body) => {
    expect((await create(body)).status).toBe(400)
  })

  it('[H-LDB-1] takes ids and schedules that are just within their bounds', async () => {
    const reset_schedule = 'é'.repeat(512)
    const id = 'é'.repeat(64)
    expect((await create({ id, reset_schedule })).status).toBe(201)
    expect(await boardOf(id)).toMatchObject({ reset_schedule })
    const user = '\u{1f600}'.repeat(64)
    expect((await score(id, user, 1)).status).toBe(200)
    expect(await usersOf(id)).toEqual([user])
    expect(
      (await operator.send('DELETE', pathOf(id, `/records/${encodeURIComponent(user)}`))).status,
    ).toBe(204)
  })

  it.each(recordsRefused)('[H-LDB-2] refuses %s before it looks for the board', async (body) => {
    expect((await submit('nowhere', body)).status).toBe(400)
  })

  it('[H-LDB-2] [H-GEN-15] keeps all 64 bits of scores and the object beside them', async () => {
    const id = await open()
    const metadata = '{"big":9223372036854775807,"deep":{"list":[1,null]}}'
    const answer = await score(id, 'u1', max, `,"subscore":${min},"metadata":${metadata}`)
    const now = scenario.clock.nowUnixMs()
    const rest = `"updated_at_unix_ms":${now},"submissions":1}`
    const record = `"user_id":"u1","score":${max},"subscore":${min},"metadata":${metadata},${rest}`
    expect(answer.text).toBe(`{${record}`)
    const listed = await operator.send('GET', pathOf(id, '/records'))
    expect(listed.text).toBe(`{"board":"${id}","total":1,"items":[{"rank":1,${record}]}`)
    expect((await submit('nowhere', { user_id: 'u', score: 1 })).status).toBe(404)
  })

  it('[H-LDB-2] takes null for no subscore and no metadata', async () => {
    const id = await open()
    const answer = await submit(id, { user_id: 'u', score: 0, subscore: null, metadata: null })
    expect(answer.body).toMatchObject({ subscore: 0, metadata: null, submissions: 1 })
  })

  it('[H-LDB-3] adds up within the ends of 64 bits, score and subscore each', async () => {
    const id = await open({ operator: 'incr' })
    await score(id, 'u', max, `,"subscore":${min},"metadata":{"n":1}`)
    await scenario.clock.advance(5)
    const answer = await score(id, 'u', 1, ',"subscore":-1')
    expect(answer.text).toContain(`"score":${max},"subscore":${min},"metadata":null,`)
    expect(answer.body).toMatchObject({ updated_at_unix_ms: scenario.clock.nowUnixMs() })
    expect((await score(id, 'u', min, `,"subscore":${max}`)).text).toContain(
      '"score":-1,"subscore":-1,',
    )
    expect((await score(id, 'u', min)).text).toContain(`"score":${min},"subscore":-1,`)
  })

  it.each(['asc', 'desc'])(
    '[H-LDB-3] keeps one whole submission, the best, under %s',
    async (sort) => {
      const id = await open({ sort, operator: 'best' })
      const better = sort === 'asc' ? -1 : 1
      await score(id, 'u', 10, ',"subscore":5,"metadata":{"n":1}')
      const start = scenario.clock.nowUnixMs()
      await scenario.clock.advance(5)
      const kept = { score: 10, subscore: 5, metadata: { n: 1 }, updated_at_unix_ms: start }
      const losing = [
        [10, 5],
        [10, 5 - better],
        [10 - better, 5 + 100 * better],
      ]
      for (const [index, [value, subscore]] of losing.entries()) {
        const answer = await score(
          id,
          'u',
          value ?? 0,
          `,"subscore":${subscore},"metadata":{"n":2}`,
        )
        expect(answer.body).toMatchObject({ ...kept, submissions: index + 2 })
      }
      const updated_at_unix_ms = scenario.clock.nowUnixMs()
      expect((await score(id, 'u', 10, `,"subscore":${5 + better}`)).body).toMatchObject({
        ...{ score: 10, subscore: 5 + better, metadata: null, updated_at_unix_ms, submissions: 5 },
      })
      const won = await score(id, 'u', 10 + better, `,"subscore":${-100 * better}`)
      expect(won.body).toMatchObject({
        score: 10 + better,
        subscore: -100 * better,
        submissions: 6,
      })
    },
  )

  it('[H-LDB-3] sets whatever comes', async () => {
    const id = await open({ operator: 'set' })
    await score(id, 'u', 10, ',"subscore":5,"metadata":{"n":1}')
    const answer = await score(id, 'u', -3)
    expect(answer.body).toMatchObject({ score: -3, subscore: 0, metadata: null, submissions: 2 })
  })

  it.each(ranksBySort)(
    '[H-LDB-4] ranks by score, subscore and then the bytes of the id under %s',
    async (sort, order) => {
      const id = await open({ sort, operator: 'set' })
      for (const [user, value, sub] of [
        ['é', 1, 0],
        ['c', 1, 7],
        ['b', max, 0],
        ['a', 1, 0],
        ['d', 1, 8],
      ]) {
        await score(id, String(user), value ?? 0, `,"subscore":${sub}`)
      }
      expect(await usersOf(id)).toEqual(order)
      expect((await ranked(id)).items.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5])
      const page = await ranked(id, '?limit=2&offset=3')
      expect(page).toMatchObject({ board: id, total: 5, items: [{ rank: 4 }, { rank: 5 }] })
      expect(page.items.map(({ user_id }) => user_id)).toEqual(order.slice(3))
      for (const offset of ['5', '400', '9007199254740991']) {
        expect(await ranked(id, `?offset=${offset}`)).toEqual({ board: id, total: 5, items: [] })
      }
    },
  )

  it('[H-GEN-26] clamps the page to 1..500, 50 without a word', async () => {
    const id = await open()
    await Promise.all(Array.from({ length: 503 }, (_, at) => score(id, `u${at}`, at)))
    const lengths = []
    for (const query of ['', '?limit=0', '?limit=500', '?limit=501', '?limit=501&offset=2']) {
      lengths.push((await ranked(id, query)).items.length)
    }
    expect(lengths).toEqual([50, 1, 500, 500, 500])
    const last = await ranked(id, '?limit=500&offset=400')
    expect(last.items.map(({ rank }) => rank)).toEqual(
      Array.from({ length: 103 }, (_, n) => n + 401),
    )
    expect(last.items.at(-1)).toMatchObject({ user_id: 'u0', rank: 503 })
    expect((await boardOf(id))?.records).toBe(503)
  })

  it.each(queriesRefused)(
    '[H-GEN-25] [H-GEN-26] refuses the query %s before it looks for the board',
    async (query) => {
      expect((await operator.send('GET', `/leaderboards/nowhere/records${query}`)).status).toBe(400)
    },
  )

  it('[H-LDB-5] removes a record, and what follows moves up', async () => {
    const id = await open()
    for (const [at, user] of ['a', 'b/c', 'd'].entries()) await score(id, user, 10 - at)
    const gone = await operator.send('DELETE', pathOf(id, '/records/b%2Fc'))
    expect([gone.status, gone.text]).toEqual([204, ''])
    expect((await ranked(id)).items).toMatchObject([
      { user_id: 'a', rank: 1 },
      { user_id: 'd', rank: 2 },
    ])
    expect((await boardOf(id))?.records).toBe(2)
    for (const path of [pathOf(id, '/records/b%2Fc'), '/leaderboards/nowhere/records/a']) {
      expect((await operator.send('DELETE', path)).status).toBe(404)
    }
    expect((await score(id, 'b/c', 1)).body).toMatchObject({ submissions: 1 })
    expect(await operator.trailOf(`${id}/b/c`)).toEqual([
      ['leaderboards.record.submit', 'score=9 subscore=0'],
      ['leaderboards.record.delete', 'deleted'],
      ['leaderboards.record.submit', 'score=1 subscore=0'],
    ])
  })

  it('[H-LDB-7] audits what was submitted, also when it did not win', async () => {
    const id = await open()
    await score(id, 'u', 5, ',"subscore":-1')
    await score(id, 'u', min)
    expect((await score('nowhere', 'u', 5)).status).toBe(404)
    expect(await operator.trailOf(`${id}/u`)).toEqual([
      ['leaderboards.record.submit', 'score=5 subscore=-1'],
      ['leaderboards.record.submit', `score=${min} subscore=0`],
    ])
    expect(await operator.trailOf('nowhere/u')).toEqual([])
  })

  it('[H-LDB-5] deletes a board with its records; one made anew begins empty', async () => {
    const id = await open({ sort: 'asc' })
    for (const user of ['a', 'b', 'c']) await score(id, user, 1)
    expect((await operator.send('DELETE', pathOf(id))).status).toBe(204)
    const paths = ['', '/records', '/records/a'] as const
    expect((await operator.send('GET', pathOf(id, paths[1]))).status).toBe(404)
    expect((await operator.send('DELETE', pathOf(id, paths[2]))).status).toBe(404)
    expect((await operator.send('DELETE', pathOf(id, paths[0]))).status).toBe(404)
    expect((await score(id, 'a', 1)).status).toBe(404)
    expect((await create({ id })).body).toMatchObject({ records: 0, sort: 'desc' })
    expect(await ranked(id)).toEqual({ board: id, total: 0, items: [] })
    await score(id, 'a', 7)
    expect((await ranked(id)).items).toMatchObject([{ user_id: 'a', score: 7n, submissions: 1 }])
    expect(await operator.trailOf(id)).toEqual([
      ['leaderboards.create', 'sort=asc operator=best'],
      ['leaderboards.delete', 'records=3'],
      ['leaderboards.create', 'sort=desc operator=best'],
    ])
  })

  it('[H-IDM-3] [H-IDM-4] counts a repeated submission once', async () => {
    const id = await open({ operator: 'incr' })
    const headers = { 'idempotency-key': `key-${id}` }
    const body = { user_id: 'u', score: 5, metadata: { with: ['a', 1] } }
    const answers: ApiAnswer[] = await Promise.all([1, 2, 3].map(() => submit(id, body, headers)))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await submit(id, { ...body, score: 6 }, headers)).status).toBe(409)
    expect((await ranked(id)).items).toMatchObject([{ score: 5n, submissions: 1 }])
    expect(await operator.trailOf(`${id}/u`)).toHaveLength(1)
  })

  it('[H-GEN-6] [H-GEN-7] asks strangers who they are before it looks at what they say', async () => {
    const id = await open()
    const send = (method: string, path: string, token: string | undefined, body?: unknown) =>
      scenario.api.call(method, `/console/v1${path}`, { ...(token && { token }), body })
    expect((await send('GET', '/leaderboards', undefined)).status).toBe(401)
    expect((await send('POST', '/leaderboards', undefined, '{')).status).toBe(401)
    expect((await send('GET', pathOf(id, '/records'), operator.token)).status).toBe(200)
    expect(scenario.api.failures).toEqual([])
  })
})

describe.each(testBackends)('leaderboards after a restart on $name', (backend) => {
  it('[O-DB-3] [H-LDB-4] rank right from the first answer on', async () => {
    const scenario = await openScenario(backend)
    const operator = await openOperator(scenario.api)
    await operator.send('POST', '/leaderboards', { id: 'b' })
    const users = Array.from({ length: 300 }, (_, at) => at)
    await Promise.all(
      users.map((at) =>
        operator.send('POST', '/leaderboards/b/records', { user_id: `u${at}`, score: at }),
      ),
    )
    await scenario.restart()
    const again = await openOperator(scenario.api)
    const answer = await again.send('GET', '/leaderboards/b/records?limit=2&offset=250')
    if (backend.name === 'in-memory') expect(answer.status).toBe(404)
    else {
      const items = [
        { user_id: 'u49', rank: 251 },
        { user_id: 'u48', rank: 252 },
      ]
      expect(answer.body).toMatchObject({ total: 300, items })
    }
    await scenario.dispose()
  })
})

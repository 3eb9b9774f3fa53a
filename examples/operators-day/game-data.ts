import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Day, refused } from './diary.ts'

const int64Max = 2n ** 63n - 1n

/** What the game keeps: objects, boards and tournaments. */
export async function runGameData(day: Day): Promise<void> {
  await keepObjects(day)
  const board = await openBoard(day)
  await cancelTournament(day, board)
  await seeTournamentEnd(day, board)
  await endBoard(day, board)
}

/** A version says what must be stored for a change to happen, so nobody overwrites unawares. */
async function keepObjects({ client, own, say, expect }: Day): Promise<void> {
  const params = { collection: own('saves'), key: 'slot/1' }
  const user_id = own('ana')
  const query = { user_id }
  const target = `${params.collection}/${params.key} (user ${user_id})`
  const first = { value: { level: 3, seed: int64Max }, version: '' }
  const stored = await client.storage.put({ params, query, body: first })
  const { version } = stored
  expect({ action: 'storage.write', target, details: `version=${version}` })
  assert.deepEqual(stored.value, first.value)
  await refused(client.storage.put({ params, query, body: first }), 'conflict')

  const body = { value: { level: 4 }, version, read_permission: 2 }
  const changed = await client.storage.put({ params, query, body })
  expect({ action: 'storage.write', target, details: `version=${changed.version}` })
  assert.notEqual(changed.version, version)
  assert.deepEqual(await client.storage.get({ params, query }), changed)
  await refused(client.storage.get({ params, query: {} }), 'not_found')
  const { items } = await client.storage.list({ params: { collection: params.collection }, query })
  assert.deepEqual(
    items.map((row) => [row.user_id, row.key, row.version, row.read_permission]),
    [[user_id, 'slot/1', changed.version, 2]],
  )
  const stale = client.storage.delete({ params, query: { user_id, version } })
  await refused(stale, 'conflict')
  await client.storage.delete({ params, query: { user_id, version: changed.version } })
  expect({ action: 'storage.delete', target, details: 'removed=true' })
  say("mends ana's saved game, and nobody who saw the old one can overwrite it")
}

/** The best score of each player counts; a worse one is counted and changes nothing else. */
async function openBoard({ client, own, say, expect }: Day): Promise<string> {
  const id = own('sprint')
  const made = await client.leaderboards.create({ body: { id, sort: 'asc' } })
  const details = 'sort=asc operator=best'
  expect({ action: 'leaderboards.create', target: id, details })
  assert.deepEqual(made, { id, sort: 'asc', operator: 'best', reset_schedule: null, records: 0 })
  await refused(client.leaderboards.create({ body: { id } }), 'conflict')

  const scores: [user: string, score: bigint][] = [
    ['ana', 41_000n],
    ['ben', -int64Max],
    ['ana', 40_000n],
    ['ana', 50_000n],
    ['cem', 60_000n],
  ]
  for (const [user_id, score] of scores) {
    await client.leaderboards.submit({ params: { id }, body: { user_id, score } })
    const details = `score=${score} subscore=0`
    expect({ action: 'leaderboards.record.submit', target: `${id}/${user_id}`, details })
  }
  await client.leaderboards.deleteRecord({ params: { id, user_id: 'ben' } })
  expect({ action: 'leaderboards.record.delete', target: `${id}/ben`, details: 'deleted' })
  const { items, total } = await client.leaderboards.records({ params: { id }, query: {} })
  assert.deepEqual(
    items.map(({ rank, user_id, score, submissions }) => [rank, user_id, score, submissions]),
    [
      [1, 'ana', 40_000, 3],
      [2, 'cem', 60_000, 1],
    ],
  )
  assert.equal(total, 2)
  say('opens a board for the fastest, and removes a time that nobody can run')
  return id
}

async function cancelTournament(day: Day, leaderboard_id: string): Promise<void> {
  const { client, own, say } = day
  const id = own('cup')
  const now = Date.now()
  const backwards = { ...scheduleAt(now), ends_at_unix_ms: now - 1 }
  const body = { id, leaderboard_id, ...scheduleAt(now) }
  await refused(client.tournaments.create({ body: { ...body, ...backwards } }), 'invalid_request')
  const drafted = await draft(day, { id, leaderboard_id, now })
  await refused(client.tournaments.create({ body }), 'conflict')
  assert.deepEqual(await client.tournaments.get({ params: { id } }), drafted)
  await refused(move(day, id, 'running'), 'conflict')
  await refused(move(day, id, 'completed'), 'conflict')
  await moved(day, id, 'registration_open')
  await moved(day, id, 'cancelled')
  await refused(move(day, id, 'registration_open'), 'conflict')
  say('drafts a cup, opens its registration, and cancels it')
}

/** The server itself finalizes and completes what has come to its end. */
async function seeTournamentEnd(day: Day, leaderboard_id: string): Promise<void> {
  const { client, own, say } = day
  const id = own('yesterday')
  await draft(day, { id, leaderboard_id, now: Date.now() - 86_400_000 })
  await moved(day, id, 'registration_open')
  await moved(day, id, 'running')
  const states = new Set<string>()
  for (let looks = 0; !states.has('completed'); looks += 1) {
    assert.ok(looks < 600, 'a tournament is settled within seconds of its end')
    states.add((await client.tournaments.get({ params: { id } })).state)
    await sleep(50)
  }
  for (const state of ['running', 'finalizing', 'completed']) states.delete(state)
  assert.equal(states.size, 0)
  assert.deepEqual(await client.tournaments.results({ params: { id } }), { items: [], total: 0 })
  await refused(move(day, id, 'cancelled'), 'conflict')
  say("starts yesterday's cup, which the server settles")
}

async function endBoard({ client, say, expect }: Day, id: string): Promise<void> {
  await client.leaderboards.delete({ params: { id } })
  expect({ action: 'leaderboards.delete', target: id, details: 'records=2' })
  await refused(client.leaderboards.records({ params: { id }, query: {} }), 'not_found')
  say('ends the board')
}

type Draft = { id: string; leaderboard_id: string; now: number }

async function draft({ client, expect }: Day, { id, leaderboard_id, now }: Draft) {
  const body = { id, leaderboard_id, ...scheduleAt(now) }
  const drafted = await client.tournaments.create({ body })
  expect({ action: 'tournaments.create', target: id, details: `leaderboard=${leaderboard_id}` })
  assert.deepEqual([drafted.state, drafted.settled_epoch_due_at_unix_ms], ['draft', null])
  return drafted
}

type State = 'registration_open' | 'running' | 'cancelled' | 'completed'

function move({ client }: Day, id: string, state: State) {
  return client.tournaments.transition({ params: { id }, body: { state } })
}

/** The move must be allowed. */
async function moved(day: Day, id: string, state: State): Promise<void> {
  assert.equal((await move(day, id, state)).state, state)
  day.expect({ action: 'tournaments.transition', target: id, details: `state=${state}` })
}

function scheduleAt(now: number) {
  return {
    registration_opens_at_unix_ms: now,
    registration_closes_at_unix_ms: now + 1000,
    starts_at_unix_ms: now + 1000,
    ends_at_unix_ms: now + 3_600_000,
  }
}

/// <reference path="../../../packages/server/guildhall.d.ts" />

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openGame, type TestGame, type TestPlayer } from 'guildhall/test'

/** guildhall test-script --config examples/season/node.toml */

const minuteMs = 60_000
/** The first cup opens here: the game begins in the middle of a minute. */
const now = new Date('2030-06-01T12:00:30Z')
const firstUnixMs = Date.parse('2030-06-01T12:01:00Z')
const cupAt = (minute: number) => `cup-${firstUnixMs + minute * minuteMs}`

async function start(game: TestGame, ...names: string[]): Promise<TestPlayer[]> {
  const players: TestPlayer[] = []
  for (const name of names) players.push(await game.signIn(name))
  return players
}

/** To a moment after the next full minute. */
async function nextMinute(game: TestGame): Promise<void> {
  await game.advance(minuteMs - (game.now() % minuteMs) + 2000)
}

test('a cup opens, begins, ends and gives prizes by itself', async (t) => {
  const game = await openGame(t, { now })
  const [ana, ben, cem, dee] = await start(game, 'ana', 'ben', 'cem', 'dee')
  assert.ok(ana && ben && cem && dee)
  assert.deepEqual(await ana.rpc('cups'), { open: null, running: null })
  await assert.rejects(ana.rpc('enter'), { message: 'no cup is open' })

  await nextMinute(game)
  assert.deepEqual(await ana.rpc('cups'), { open: cupAt(0), running: null })
  for (const player of [ana, ben, cem]) await player.rpc('enter')
  await assert.rejects(ana.rpc('score', '7'), { message: 'no cup is running' })

  await nextMinute(game)
  assert.deepEqual(await ana.rpc('cups'), { open: cupAt(1), running: cupAt(0) })
  await ana.rpc('score', '70')
  assert.deepEqual(await ben.rpc('score', '90'), { best: 90 })
  // Dee plays, best of all, but has not entered; cem has entered and does not play.
  await dee.rpc('score', '99')

  await nextMinute(game)
  assert.deepEqual(
    await Promise.all([ana, ben, cem, dee].map((player) => player.rpc('gold'))),
    [50, 100, 0, 0].map((gold) => ({ gold })),
  )
  const client = await game.console()
  const results = await client.tournaments.results({ params: { id: cupAt(0) } })
  assert.deepEqual(
    results.items.map(({ user_id, rank }) => [user_id, rank]),
    [
      [ben.user_id, 1],
      [ana.user_id, 2],
    ],
  )
  const boards = await client.leaderboards.list({})
  assert.deepEqual(
    boards.items.map(({ id }) => id),
    [cupAt(1), cupAt(2)],
  )
  const trail = await client.audit.list({ query: { action: 'tournaments.' } })
  assert.ok(trail.entries.every(({ actor_type }) => actor_type === 'script'))
})

test('a season of cups follows, and nobody has to look after it', async (t) => {
  const game = await openGame(t, { now })
  const [ana] = await start(game, 'ana')
  assert.ok(ana)
  await nextMinute(game)
  for (let minute = 1; minute <= 5; minute += 1) {
    await ana.rpc('enter')
    await nextMinute(game)
    await ana.rpc('score', String(minute))
  }
  await nextMinute(game)
  await nextMinute(game)
  assert.deepEqual(await ana.rpc('gold'), { gold: 500 })
  const client = await game.console()
  const { items } = await client.tournaments.list({})
  assert.deepEqual(
    items.map(({ state }) => state),
    [...Array.from({ length: 6 }, () => 'completed'), 'running', 'registration_open'],
  )
})

import assert from 'node:assert/strict'
import { type ConsoleClient, createConsoleClient, GuildhallError } from '@guildhall/client/console'
import { runExample } from '../run-example.ts'
import { type Entrant, join } from './entrant.ts'

const minuteMs = 60_000
/** The season must be under way before the minute is over, in milliseconds. */
const setUpMs = 10_000

type SeasonOptions = { print?: (line: string) => void }

/** What every part of the season works with. */
type Season = { desk: ConsoleClient; board: string; cup: string; print: (line: string) => void }

/**
 * A season of a game, from an empty board to the results: operators open a board that is reset
 * every minute and a cup on it, players enter through the game's script, scores come in, the reset
 * ends the cup, and everybody hears of it. Every step is asserted.
 *
 * The node needs `leaderboards.execute_reset_schedules = true` and the script of `game/`.
 */
export async function season(baseUrl: string, { print = () => {} }: SeasonOptions): Promise<void> {
  const unique = crypto.randomUUID()
  const desk = createConsoleClient(baseUrl)
  await desk.signIn({ username: 'admin', password: 'password' })
  const run: Season = { desk, board: `minute ${unique}`, cup: `cup ${unique}`, print }
  const players = await Promise.all(['ana', 'ben', 'cem', 'dee'].map((it) => join(baseUrl, it)))
  await waitForRoom()

  const [ana, ben, cem, dee] = players
  assert.ok(ana && ben && cem && dee)
  await open(run, ana)
  await enter(run, [ana, ben, cem], dee)
  await play(run, [ana, ben, dee])
  await end(run, [ben, ana])
  await hear(run, players, ben)
  await begin(run, [ben, ana])
  await Promise.all(players.map((player) => player.leave()))
}

/** A reset in the middle of the setting up would take scores with it. */
async function waitForRoom(): Promise<void> {
  const leftMs = minuteMs - (Date.now() % minuteMs)
  if (leftMs < setUpMs) await sleep(leftMs + 500)
}

async function open({ desk, board, cup, print }: Season, ana: Entrant): Promise<void> {
  const reset_schedule = '* * * * *'
  const made = await desk.leaderboards.create({ body: { id: board, reset_schedule } })
  assert.deepEqual([made.sort, made.operator, made.records], ['desc', 'best', 0])
  const now = Date.now()
  const draft = await desk.tournaments.create({
    body: {
      id: cup,
      leaderboard_id: board,
      registration_opens_at_unix_ms: now - minuteMs,
      registration_closes_at_unix_ms: now + minuteMs,
      starts_at_unix_ms: now + minuteMs,
      ends_at_unix_ms: now + 10 * minuteMs,
    },
  })
  assert.equal(draft.state, 'draft')
  await assert.rejects(ana.enter(cup), { message: 'registration is closed' })
  await assert.rejects(ana.enter('no cup'), { message: 'there is no such tournament' })
  print('a board is open, and a cup on it is drafted')
}

async function enter(
  { desk, cup, print }: Season,
  entrants: readonly Entrant[],
  late: Entrant,
): Promise<void> {
  const params = { id: cup }
  await desk.tournaments.transition({ params, body: { state: 'registration_open' } })
  for (const entrant of entrants) {
    const entry = await entrant.enter(cup)
    assert.deepEqual(await entrant.enter(cup), entry)
  }
  const { items } = await desk.tournaments.entries({ params })
  assert.deepEqual(new Set(items.map(({ user_id }) => user_id)), new Set(ids(entrants)))
  await desk.tournaments.transition({ params, body: { state: 'running' } })
  await assert.rejects(late.enter(cup), { message: 'registration is closed' })
  print(`${entrants.length} players have entered, and the cup runs`)
}

/** Dee plays as well, and best of all, but has not entered. Cem has entered and does not play. */
async function play(run: Season, [ana, ben, dee]: readonly Entrant[]): Promise<void> {
  const { desk, board, cup, print } = run
  assert.ok(ana && ben && dee)
  for (const [player, score, subscore] of [
    [ana, 70, 1],
    [ben, 50, 0],
    [dee, 99, 0],
    [ben, 70, 2],
    [ana, 60, 9],
  ] as const) {
    const body = { user_id: player.id, score, subscore }
    await desk.leaderboards.submit({ params: { id: board }, body })
  }
  const ranked = await desk.leaderboards.records({ params: { id: board }, query: {} })
  assert.deepEqual(ids(ranked.items.map(({ user_id }) => ({ id: user_id }))), ids([dee, ben, ana]))
  // Operators do not end a tournament: the reset does.
  const state = 'completed'
  const attempt = desk.tournaments.transition({ params: { id: cup }, body: { state } })
  await assert.rejects(attempt, (error) => {
    return error instanceof GuildhallError && error.code === 'conflict'
  })
  print('scores are in: dee leads, outside of the cup')
}

async function end(run: Season, ranking: readonly Entrant[]): Promise<void> {
  const { desk, board, cup, print } = run
  const params = { id: cup }
  print('waiting for the minute to end')
  let tournament = await desk.tournaments.get({ params })
  while (tournament.state !== 'completed') {
    await sleep(100)
    tournament = await desk.tournaments.get({ params })
  }
  const due = tournament.settled_epoch_due_at_unix_ms ?? 0
  assert.ok(due > 0 && due % minuteMs === 0)
  const { items } = await desk.tournaments.results({ params })
  assert.deepEqual(ids(items.map(({ user_id }) => ({ id: user_id }))), ids(ranking))
  assert.deepEqual(
    items.map(({ rank, score, subscore }) => [rank, Number(score), Number(subscore)]),
    [
      [1, 70, 2],
      [2, 70, 1],
    ],
  )
  const empty = await desk.leaderboards.records({ params: { id: board }, query: {} })
  assert.equal(empty.total, 0)
  print('the board was reset, and the cup has its results')
}

/** The script notifies everybody who is there; those who were ranked find a notification too. */
async function hear(run: Season, players: readonly Entrant[], winner: Entrant): Promise<void> {
  const { desk, board, cup, print } = run
  for (const player of players) {
    const completed = await player.hears((news) => news.tournament_id === cup)
    assert.deepEqual([completed.winner_id, completed.results_total], [winner.id, 2])
    await player.hears((news) => news.leaderboard_id === board)
  }
  for (const player of players) {
    const seen = await desk.notifications.list({ query: { user_id: player.id } })
    const ranks = seen.items.map(({ subject, content }) => [subject, content.rank])
    const rank = ['ben', 'ana'].indexOf(player.name) + 1
    assert.deepEqual(ranks, rank === 0 ? [] : [['Tournament finished', rank]])
  }
  print('everybody has heard who won')
}

/** The next period begins empty, and what it brings changes no result. */
async function begin(run: Season, [ben, ana]: readonly Entrant[]): Promise<void> {
  const { desk, board, cup, print } = run
  assert.ok(ben && ana)
  const before = await desk.tournaments.results({ params: { id: cup } })
  const body = { user_id: ana.id, score: 1_000 }
  await desk.leaderboards.submit({ params: { id: board }, body })
  await desk.leaderboards.delete({ params: { id: board } })
  assert.deepEqual(await desk.tournaments.results({ params: { id: cup } }), before)
  print('the board is gone, and the results stay')
}

function ids(players: readonly { id: string }[]): string[] {
  return players.map(({ id }) => id)
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

if (import.meta.main) {
  await runExample(
    (baseUrl, print) => season(baseUrl, { print }),
    'npm start -- --set runtime.scripts_dir=examples/season/game' +
      ' --set leaderboards.execute_reset_schedules=true',
  )
}

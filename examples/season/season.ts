import assert from 'node:assert/strict'
import { runExample } from '../run-example.ts'
import { join } from './entrant.ts'

type SeasonOptions = { print?: (line: string) => void }

/**
 * A cup of a season as its players see it. Nobody signs in at the console: the script opens a cup
 * each minute, begins it in the next one, and gives the prizes when it has ended. Takes up to three
 * minutes; every step is asserted.
 *
 * The node needs the script of `game/`.
 */
export async function season(baseUrl: string, { print = () => {} }: SeasonOptions): Promise<void> {
  const players = await Promise.all(['ana', 'ben', 'cem', 'dee'].map((it) => join(baseUrl, it)))
  const [ana, ben, cem, dee] = players
  assert.ok(ana && ben && cem && dee)

  print('waiting for the minute to end: then a cup opens')
  const opened = await ana.hears(({ news, open }) => news === 'cups' && open !== null)
  const cup = String(opened.open)
  for (const player of [ana, ben, cem]) assert.deepEqual(await player.enter(), await player.enter())
  print('ana, ben and cem have entered it; in a minute it begins')

  await ana.hears(({ running }) => running === cup)
  await ana.score(70)
  await ben.score(50)
  // Dee plays, best of all, but has not entered; cem has entered and does not play.
  await dee.score(99)
  await ben.score(90)
  await ana.score(60)
  print('scores are in; in a minute it ends')

  for (const player of players) {
    const ended = await player.hears(
      ({ news, tournament_id }) => news === 'completed' && tournament_id === cup,
    )
    assert.deepEqual(ended.winners, [
      { user_id: ben.id, rank: 1, gold: 100 },
      { user_id: ana.id, rank: 2, gold: 50 },
    ])
  }
  assert.deepEqual(await Promise.all(players.map((player) => player.gold())), [50, 100, 0, 0])
  print('everybody has heard who won, and the prizes are in their purses')
  await Promise.all(players.map((player) => player.leave()))
}

if (import.meta.main) {
  await runExample(
    (baseUrl, print) => season(baseUrl, { print }),
    'npm start -- --config examples/season/node.toml',
  )
}

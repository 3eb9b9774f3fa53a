/// <reference path="../../../packages/server/guildhall.d.ts" />

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openGame, type TestGame, type TestPlayer } from 'guildhall/test'
import { type Arena, type ArenaView, steerKind } from './protocol.ts'

/** npm start -- test-script --config examples/arena/node.toml */

test('the world moves twenty times a second, and only where a player steers', async (t) => {
  const game = await openGame<Arena>(t)
  const ana = await game.signIn('ana')
  const yard = await ana.rooms.create('yard')
  await game.advance(1000)
  const still = ana.state?.players[0]
  await game.advance(1000)
  // A part that did not change is the same object.
  assert.equal(ana.state?.players[0], still)

  const states = new Set<unknown>()
  for (let n = 0; n < 20; n += 1) {
    // In a circle: it began at a place of chance, and whoever runs into a wall stands still.
    const angle = (n * 2 * Math.PI) / 10
    ana.send(steerKind, { x: Math.cos(angle), y: Math.sin(angle), dash: false })
    await game.advance(50)
    states.add(ana.state)
  }
  assert.equal(yard.mode, 'sparks')
  assert.notDeepEqual(ana.state?.players[0], still)
  assert.equal(states.size, 20)
})

test('a round ends with a winner, and the next one begins after a pause', async (t) => {
  const game = await openGame<Arena>(t)
  const [ana, ben] = [await game.signIn('ana'), await game.signIn('ben')]
  const yard = await ana.rooms.create('yard')
  await ben.rooms.join(yard.id)
  await playRound(game, ana)
  assert.equal(ben.state?.winner, ana.participant)
  assert.equal(ben.state?.pause, 5)
  await game.advance(5100)
  assert.deepEqual([ben.state?.round, ben.state?.winner, ben.state?.pause], [2, null, 0])
})

test('a room takes eight', async (t) => {
  const game = await openGame<Arena>(t)
  const players: TestPlayer<Arena>[] = []
  for (let n = 0; n < 9; n += 1) players.push(await game.guest())
  const [first, ...others] = players
  const yard = await first?.rooms.create('yard')
  const last = others.pop()
  for (const player of others) await player.rooms.join(yard?.id ?? 0)
  await assert.rejects(last?.rooms.join(yard?.id ?? 0) ?? Promise.resolve(), /full/)
})

/** Runs from spark to spark until somebody has won. */
async function playRound(game: TestGame<Arena>, player: TestPlayer<Arena>): Promise<void> {
  for (let steps = 0; steps < 2000; steps += 1) {
    await game.advance(150)
    const { state } = player
    if (state === undefined || state.winner !== null) return
    const me = state.players.find(({ id }) => id === player.participant)
    if (me === undefined) continue
    const [x, y] = nearest(me, state.sparks)
    const [dx, dy] = [x - me.x, y - me.y]
    // A pillar is run around, and a spark not run past.
    const angle = Math.atan2(dy, dx) + (steps % 14 < 4 ? 0.9 : 0)
    const pace = Math.min(1, Math.hypot(dx, dy) / 120)
    const to = { x: pace * Math.cos(angle), y: pace * Math.sin(angle) }
    player.send(steerKind, { ...to, dash: false })
  }
}

type Spark = ArenaView['sparks'][number]

function nearest(me: { x: number; y: number }, sparks: readonly Readonly<Spark>[]) {
  const far = ([x, y]: Readonly<Spark>) => Math.hypot(x - me.x, y - me.y)
  return sparks.reduce((best, spark) => (far(spark) < far(best) ? spark : best))
}

/// <reference path="../../../packages/server/guildhall.d.ts" />

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openGame, type TestGame, type TestPlayer } from 'guildhall/test'
import {
  type Arena,
  type Happening,
  happeningKind,
  type Snapshot,
  snapshotKind,
  steerKind,
} from './protocol.ts'

/**
 * npm start -- test-script examples/arena/lua --config examples/arena/node.toml, and the same for
 * Python.
 */

const settings = { 'runtime.tick_hz': '20' }

test('the world moves twenty times a second, and only where a player steers', async (t) => {
  const game = await openGame<Arena>(t, { settings })
  const ana = await game.signIn('ana')
  await ana.rooms.create('yard')
  await game.advance(1000)
  const still = snapshots(ana)
  assert.equal(still.length, 20)
  assert.deepEqual(still.at(0)?.players, still.at(-1)?.players)

  ana.send(steerKind, { x: 1, y: 0, dash: false })
  await game.advance(1000)
  const moved = snapshots(ana).at(-1)?.players
  assert.notDeepEqual(moved, still.at(-1)?.players)
})

test('a round ends with a winner, and the next one begins after a pause', async (t) => {
  const game = await openGame<Arena>(t, { settings })
  const [ana, ben] = [await game.signIn('ana'), await game.signIn('ben')]
  const yard = await ana.rooms.create('yard')
  await ben.rooms.join(yard.id)
  await playRound(game, ana)
  const over = happenings(ben).find((happening) => happening.type === 'over')
  assert.equal(over?.winner, ana.participant)
  assert.equal(snapshots(ben).at(-1)?.pause, 5)
  await game.advance(5100)
  const begun = happenings(ben).filter(({ type }) => type === 'begin')
  assert.deepEqual(begun.at(-1), { type: 'begin', round: 2 })
})

test('a room takes eight', async (t) => {
  const game = await openGame<Arena>(t, { settings })
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
    if (happenings(player).some(({ type }) => type === 'over')) return
    await game.advance(150)
    const seen = snapshots(player).at(-1)
    const me = seen?.players.find(({ id }) => id === player.participant)
    if (me === undefined || seen === undefined) continue
    const [x, y] = nearest(me, seen.sparks)
    const [dx, dy] = [x - me.x, y - me.y]
    // A pillar is run around, and a spark not run past.
    const angle = Math.atan2(dy, dx) + (steps % 14 < 4 ? 0.9 : 0)
    const pace = Math.min(1, Math.hypot(dx, dy) / 120)
    const to = { x: pace * Math.cos(angle), y: pace * Math.sin(angle) }
    player.send(steerKind, { ...to, dash: false })
  }
}

function nearest(me: { x: number; y: number }, sparks: Snapshot['sparks']): [number, number] {
  const far = ([x, y]: [number, number]) => Math.hypot(x - me.x, y - me.y)
  return sparks.reduce((best, spark) => (far(spark) < far(best) ? spark : best))
}

function snapshots({ received }: TestPlayer<Arena>): Snapshot[] {
  return received.filter(({ kind }) => kind === snapshotKind).map((each) => each.json() as Snapshot)
}

function happenings({ received }: TestPlayer<Arena>): Happening[] {
  const found = received.filter(({ kind }) => kind === happeningKind)
  return found.map((each) => each.json() as Happening)
}

/// <reference path="../../../packages/server/guildhall.d.ts" />

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openGame, type TestGame, type TestPlayer } from 'guildhall/test'
import type { Cards } from './protocol.ts'
import { fits, wholeDeck } from './table.ts'

/** guildhall test-script --config examples/cards/node.toml */

async function deal(game: TestGame<Cards>): Promise<[TestPlayer<Cards>, TestPlayer<Cards>]> {
  const [ana, ben] = [await game.signIn('ana'), await game.signIn('ben')]
  for (const player of [ana, ben]) await player.rooms.joinOrCreate('green', { mode: 'cards' })
  await game.advance(50)
  return [ana, ben]
}

test('everybody sees the table, and the own hand', async (t) => {
  const game = await openGame<Cards>(t)
  const [ana, ben] = await deal(game)
  assert.equal(ana.state?.turn, ana.participant)
  assert.deepEqual(ana.state, ben.state)
  assert.deepEqual(
    ana.state?.players.map(({ name, cards }) => [name, cards]),
    [
      ['ana', 4],
      ['ben', 4],
    ],
  )
  const dealt = [...(ana.own ?? []), ...(ben.own ?? []), ana.state?.top ?? '']
  assert.equal(new Set(dealt).size, 9)
  assert.equal(ana.state?.deck, wholeDeck.length - 9)
})

test('a card must fit, and be one’s own, in one’s turn', async (t) => {
  const game = await openGame<Cards>(t)
  const [ana, ben] = await deal(game)
  await assert.rejects(ben.rpc('draw'), /not your turn/)
  await assert.rejects(ana.rpc('play', { card: ben.own?.[0] ?? '' }), /not in your hand/)
  const top = ana.state?.top ?? ''
  const wrong = ana.own?.find((card) => !fits(card, top))
  if (wrong !== undefined) await assert.rejects(ana.rpc('play', { card: wrong }), /does not fit/)
  const card = ana.own?.find((each) => fits(each, top))
  if (card === undefined) await ana.rpc('draw')
  else await ana.rpc('play', { card })
  await game.advance(50)
  assert.equal(ben.state?.turn, ben.participant)
  assert.equal(ana.own?.length, card === undefined ? 5 : 3)
})

test('who does not play in time draws, again and again', async (t) => {
  const game = await openGame<Cards>(t)
  const [ana, ben] = await deal(game)
  await game.advance(14_800)
  assert.equal(ana.state?.turn, ana.participant)
  await game.advance(200)
  assert.equal(ana.state?.turn, ben.participant)
  assert.equal(ana.own?.length, 5)
  await game.advance(30_000)
  assert.deepEqual(
    ana.state?.players.map(({ cards }) => cards),
    [6, 5],
  )
})

test('a lost connection keeps the hand', async (t) => {
  const game = await openGame<Cards>(t)
  const [ana, ben] = await deal(game)
  const hand = ana.own
  await ana.drop()
  await game.advance(50)
  assert.equal(ben.state?.players[0]?.away, true)
  await game.advance(2000)
  assert.equal(ben.state?.players[0]?.away, false)
  assert.deepEqual(ana.own, hand)
})

test('who stays alone wins', async (t) => {
  const game = await openGame<Cards>(t)
  const [ana, ben] = await deal(game)
  await ben.rooms.leave()
  await game.advance(50)
  assert.equal(ana.state?.winner, ana.participant)
  await assert.rejects(ana.rpc('draw'), /the game is over/)
})

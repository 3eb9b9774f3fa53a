/// <reference path="../../../packages/server/guildhall.d.ts" />

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openGame, type TestGame, type TestPlayer } from 'guildhall/test'

/** What the game's clients call. */
type Shop = {
  rpcs: {
    found: { payload: { name: string }; reply: { id: number } }
    join: { payload: { guild: number }; reply: undefined }
    say: { payload: { guild: number; text: string }; reply: undefined }
    buy: { payload: Order; reply: { replayed: boolean; gold: number } }
    owned: { payload: { item: string }; reply: (Order & { price: number })[] }
  }
  kinds: Record<never, never>
}
type Order = { item: string; order: string }

/** npm start -- test-script --config examples/guild-shop/node.toml */

test('an order is paid once', async (t) => {
  const game = await openGame<Shop>(t)
  const ana = await customer(game, 'ana', 100)
  const order = { item: 'sword', order: 'order-1' }
  assert.deepEqual(await ana.rpc('buy', order), { replayed: false, gold: 70 })
  assert.deepEqual(await ana.rpc('buy', order), { replayed: true, gold: 70 })
  assert.equal((await ana.notification()).subject, 'You own a sword')
  assert.deepEqual(await ana.rpc('owned', { item: 'sword' }), [{ ...order, price: 30 }])
})

test('who has too little buys nothing', async (t) => {
  const game = await openGame<Shop>(t)
  const ben = await customer(game, 'ben', 29)
  await assert.rejects(ben.rpc('buy', { item: 'sword', order: 'order-1' }), /more than you have/)
  assert.deepEqual(await ben.rpc('owned', { item: 'sword' }), [])
})

test('what is said goes to the members, and to nobody else', async (t) => {
  const game = await openGame<Shop>(t)
  const [ana, ben] = [await game.signIn('ana'), await game.signIn('ben')]
  const { id } = await ana.rpc('found', { name: 'Owls' })
  await assert.rejects(ben.rpc('say', { guild: id, text: 'hello' }), /only members/)
  await ben.rpc('join', { guild: id })
  await ana.rpc('say', { guild: id, text: 'hello owls' })
  assert.equal((await ben.chat()).message?.content, 'hello owls')
})

async function customer(
  game: TestGame<Shop>,
  name: string,
  gold: number,
): Promise<TestPlayer<Shop>> {
  const player = await game.signIn(name)
  const client = await game.console()
  const body = { currency: 'gold', delta: gold, reason: 'welcome' }
  await client.wallet.adjust({ params: { id: player.user_id ?? '' }, body })
  return player
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openGame } from 'guildhall/test'
import { type Game, scoresKind, tapKind } from './protocol.ts'

test('everybody in the room sees a tap, and the best is kept', async (t) => {
  const game = await openGame<Game>(t)
  const [ana, ben] = [await game.signIn('ana'), await game.signIn('ben')]
  const lobby = await ana.rooms.create('lobby')
  await ben.rooms.join(lobby.id)
  assert.equal(await ana.rpc('best'), undefined)

  ben.send(tapKind, { taps: 1 })
  ben.send(tapKind, { taps: 1 })
  ben.send(tapKind, { taps: 1000 })
  await game.settled()
  for (const player of [ana, ben]) {
    const scores = player.received.filter(({ kind }) => kind === scoresKind)
    assert.deepEqual(scores.at(-1)?.json(), { ben: 2 })
  }
  assert.deepEqual(await ana.rpc('best'), { name: 'ben', taps: 2 })
})

import assert from 'node:assert/strict'
import { runExample } from '../run-example.ts'
import { comeBack, type Hand, sitDown } from './hand.ts'

type Playing = {
  /** Done in the middle of a turn, e.g. the end of the script's process. */
  inBetween?: (ana: Hand, ben: Hand) => Promise<void>
}

/**
 * Two players play a game of cards to its end. One of them comes back in the middle of a turn, and
 * one lets a turn pass. Every step is asserted.
 */
export async function playCards(baseUrl: string, { inBetween }: Playing = {}): Promise<string[]> {
  const lines: string[] = []
  const table = `table-${crypto.randomUUID().slice(0, 8)}`
  const ana = await sitDown(baseUrl, { name: 'ana', table })
  const ben = await sitDown(baseUrl, { name: 'ben', table })
  const otherGame = 'the node has another game: npm start -- --config examples/cards/node.toml'
  assert.equal(ana.room.mode, 'cards', otherGame)
  const [begun] = await Promise.all([ana, ben].map(({ sees }) => sees(({ top }) => top !== null)))
  assert.deepEqual([ana.room.own?.length, ben.room.own?.length], [4, 4])
  lines.push('ana and ben have four cards each')

  assert.equal(begun?.turn, ana.connection.participant)
  await assert.rejects(ben.connection.rpc('draw'), /it is not your turn/)
  await ana.move()
  await ben.move()
  lines.push('both have played in turn')

  const hand = ana.room.own
  await ana.connection.close(4900, 'the game was closed')
  await ben.sees(({ players }) => players.some(({ away }) => away))
  const back = await comeBack(baseUrl, ana.session)
  await back.sees(({ players }) => players.every(({ away }) => !away))
  assert.deepEqual(back.room.own, hand)
  lines.push('ana comes back in the middle of her turn, and has her hand')

  const { moves } = await back.sees(({ turn }) => turn === back.connection.participant)
  await ben.sees((view) => view.moves > moves)
  await back.sees((view) => view.moves > moves)
  assert.equal(back.room.own?.length, (hand?.length ?? 0) + 1)
  lines.push('she lets her time pass, and draws a card')

  await inBetween?.(back, ben)
  for (const player of [back, ben]) player.play()
  const { winner } = await ben.sees((view) => view.winner !== null)
  const isAnas = winner === back.connection.participant
  await back.sees((view) => view.winner === winner)
  assert.equal((isAnas ? back : ben).room.own?.length, 0)
  lines.push(`${isAnas ? 'ana' : 'ben'} has played the last card`)
  await Promise.all([back.connection.close(), ben.connection.close()])
  return lines
}

if (import.meta.main) {
  await runExample(async (baseUrl, print) => {
    for (const line of await playCards(baseUrl)) print(line)
  }, 'npm start -- --config examples/cards/node.toml')
}

import assert from 'node:assert/strict'
import { runExample } from '../run-example.ts'
import { comeBack, type FighterBot, joinArena } from './fighter.ts'
import { goal } from './game/world.ts'

/**
 * Two players make a room by name, play a round to its end, and one of them comes back to its
 * seat after a reload. Every step is asserted.
 */
export async function playArena(baseUrl: string): Promise<string[]> {
  const lines: string[] = []
  const roomName = `courtyard-${crypto.randomUUID().slice(0, 8)}`
  const ana = await joinArena(baseUrl, 'ana', roomName)
  const ben = await joinArena(baseUrl, 'ben', roomName)
  assert.equal(ana.room.id, ben.room.id)
  const otherGame = 'the node has another game: npm start -- --config examples/arena/node.toml'
  assert.deepEqual([ana.room.map, ana.room.mode], ['courtyard', 'sparks'], otherGame)
  await ana.sees(({ players }) => players.length === 2)
  assert.deepEqual([...ana.room.members.values()].map(nameOf).toSorted(), ['ana', 'ben'])
  lines.push('ana and ben are in the same room')

  ana.play(true)
  await ana.sees(({ players }) => scoreOf(ana, players) >= 2)
  const before = await ana.sees(() => true)
  lines.push('ana gathers sparks')

  const reloaded = await reload(baseUrl, ana, ben)
  const after = await reloaded.sees(() => true)
  assert.equal(reloaded.connection.participant, ana.connection.participant)
  assert.ok(scoreOf(ana, after.players) >= scoreOf(ana, before.players))
  lines.push('ana reloads the page and has her seat and her sparks')

  reloaded.play(true)
  ben.play(true)
  const over = await ben.sees(({ winner }) => winner !== null)
  assert.ok(over.players.some(({ id, score }) => id === over.winner && score >= goal))
  await ben.sees(({ round, winner }) => round === over.round + 1 && winner === null)
  lines.push(`${over.winner === ana.connection.participant ? 'ana' : 'ben'} wins the round`)

  await reloaded.room.leave()
  await ben.sees(({ players }) => players.length === 1)
  await Promise.all([reloaded.connection.close(), ben.connection.close()])
  return lines
}

/** A page that is reloaded goes without saying that it leaves. */
async function reload(baseUrl: string, ana: FighterBot, ben: FighterBot): Promise<FighterBot> {
  const dropped = new Promise((resolve) => ben.room.on('drop', resolve))
  const returned = new Promise((resolve) => ben.room.on('return', resolve))
  await ana.connection.close(4900, 'reload')
  await dropped
  await ben.sees(({ players }) => players.some(({ away }) => away))
  const reloaded = await comeBack(baseUrl, ana.session)
  await returned
  await ben.sees(({ players }) => players.every(({ away }) => !away))
  return reloaded
}

function scoreOf(fighter: FighterBot, players: readonly { id: number; score: number }[]): number {
  return players.find(({ id }) => id === fighter.connection.participant)?.score ?? 0
}

function nameOf({ username }: { username: string | null }): string {
  return username?.replace(/#.*/, '') ?? ''
}

if (import.meta.main) {
  await runExample(async (baseUrl, print) => {
    for (const line of await playArena(baseUrl)) print(line)
  }, 'npm start -- --config examples/arena/node.toml')
}

import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createConsoleClient } from '@guildhall/client/console'
import { expect, it } from 'vitest'
import { startNodeProcess } from '../../packages/server/src/testing/node-process.ts'
import { joinArena } from './fighter.ts'

it('[S-REL-4] [S-REL-8] the arena is edited while it is played: scores stay, and so does everybody', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-arena-'))
  const game = join(folder, 'game')
  cpSync(fileURLToPath(new URL('./game', import.meta.url)), game, { recursive: true })
  const node = await startNodeProcess({
    'runtime.scripts_dir': game,
    'runtime.hot_reload': 'true',
    'runtime.hot_reload_poll_ms': '100',
    'rooms.reconnect_grace_ms': '20000',
  })
  try {
    const bots = await Promise.all(['ana', 'ben', 'cid'].map((n) => joinArena(node.url, n, 'yard')))
    const [ana] = bots
    if (ana === undefined) throw new Error('nobody plays')
    const client = createConsoleClient(node.url)
    await client.signIn({ username: 'admin', password: 'password' })
    const lost: string[] = []
    for (const bot of bots) {
      bot.connection.on('state', () => lost.push(bot.connection.state))
      for (const event of ['drop', 'leave'] as const) bot.room.on(event, () => lost.push(event))
      bot.play(true)
    }
    const total = (players: readonly { score: number }[]) =>
      players.reduce((sum, { score }) => sum + score, 0)
    for (let edit = 1; edit <= 3; edit += 1) {
      const before = await ana.sees(({ players }) => players.length === 3 && total(players) >= 4)
      const at = join(game, 'main.ts')
      writeFileSync(
        `${at}~`,
        `${readFileSync(at)}\nguildhall.on_rpc('edit${edit}', () => ({ is: 'in' }))\n`,
      )
      renameSync(`${at}~`, at)
      for (;;) {
        const params = { method: `edit${edit}` }
        if ((await client.runtime.rpc({ params, body: { payload: '' } })).ok) break
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      const after = await ana.sees(({ players }) => players.length === 3)
      // A round that was won begins anew; within one, nothing is lost.
      if (after.round === before.round) {
        expect(total(after.players)).toBeGreaterThanOrEqual(total(before.players))
      }
      expect(after.round).toBeGreaterThanOrEqual(before.round)
    }
    expect(lost).toEqual([])
    for (const { connection } of bots) expect(connection.state).toBe('open')
    expect(new Set(bots.map(({ room }) => room.id)).size).toBe(1)
    await Promise.all(bots.map(({ connection }) => connection.close()))
  } finally {
    await node.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})

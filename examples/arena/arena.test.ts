import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createConsoleClient } from '@guildhall/client/console'
import { expect, it, vi } from 'vitest'
import { testBackends } from '../../packages/server/src/database/testing/backends.ts'
import { builtMain, startNodeProcess } from '../../packages/server/src/testing/node-process.ts'
import { runScriptTests } from '../../packages/server/src/testing/script-tests.ts'
import { playArena } from './arena.ts'

const run = promisify(execFile)

/** As in node.toml. */
const keys = {
  'runtime.scripts_dir': fileURLToPath(new URL('./game', import.meta.url)),
  'rooms.reconnect_grace_ms': '20000',
}

/** Its page plays on a file, and its load test in memory. */
const stores = testBackends.filter(({ name }) => name === 'postgres')

it.concurrent.each(stores)(
  'two players play a round on $name, and a reloaded page has its seat',
  async (backend) => {
    const store = await backend.open()
    await store.db.close()
    const node = await startNodeProcess({ ...keys, 'database.url': store.url })
    try {
      expect(await playArena(node.url)).toEqual([
        'ana and ben are in the same room',
        'ana gathers sparks',
        'ana reloads the page and has her seat and her sparks',
        expect.stringMatching(/^(ana|ben) wins the round$/),
      ])
      await vi.waitFor(() => expectRecord(node.url))
    } finally {
      await node.stop()
      await store.dispose()
    }
  },
)

it.concurrent('its load test plays for a moment, in memory', async ({ onTestFinished }) => {
  const node = await startNodeProcess(keys)
  onTestFinished(() => node.stop().then(() => {}))
  const bot = fileURLToPath(new URL('./bots/bot.ts', import.meta.url))
  const argv = ['bots', bot, '--bind', new URL(node.url).host, '--clients', '3', '--seconds', '1']
  const { stdout } = await run(process.execPath, [builtMain, ...argv, '--json'], { env: {} })
  const { calls, ...report } = JSON.parse(stdout) as { calls: { name: string }[] }
  expect(report).toMatchObject({ ok: true, connected: 3, lost: 0, error_rate: 0 })
  const names = ['sign in', 'connect', 'join', 'first state']
  expect(calls).toMatchObject(names.map((name) => ({ name, count: 3, errors: 0 })))
})

/** The match has left a record with the result that the script set. */
async function expectRecord(url: string): Promise<void> {
  const client = createConsoleClient(url)
  await client.signIn({ username: 'admin', password: 'password' })
  const { items } = await client.matchRecords.list({ query: {} })
  expect(items).toMatchObject([
    { map: 'courtyard', mode: 'sparks', open: false, peak_participants: 2, join_total: 2 },
  ])
  const { result_json } = await client.matchRecords.get({
    params: { match_id: items[0]?.match_id ?? '' },
    query: {},
  })
  const result = JSON.parse(result_json ?? '{}') as { winner: string; scores: number[] }
  expect(result).toMatchObject({ round: 1, winner: expect.any(String) })
  expect(result.scores[0]).toBeGreaterThanOrEqual(12)
}

it.each(['game', 'lua', 'python'])('passes the tests of its script in ./%s', async (folder) => {
  const config = fileURLToPath(new URL('./node.toml', import.meta.url))
  const game = fileURLToPath(new URL(`./${folder}`, import.meta.url))
  const { code, stdout } = await runScriptTests([game, '--config', config])
  expect(code, stdout).toBe(0)
  expect(stdout).toContain('pass 3')
})

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createConsoleClient } from '@guildhall/client/console'
import { expect, it, onTestFinished, vi } from 'vitest'
import { testBackends } from '../../packages/server/src/database/testing/backends.ts'
import { startNodeProcess } from '../../packages/server/src/testing/node-process.ts'
import { runScriptTests } from '../../packages/server/src/testing/script-tests.ts'
import { playCards } from './cards.ts'
import { type Hand, sitDown } from './hand.ts'

/** As in node.toml. */
const keys = {
  'runtime.scripts_dir': fileURLToPath(new URL('./game', import.meta.url)),
  'rooms.reconnect_grace_ms': '20000',
}

const steps = [
  'ana and ben have four cards each',
  'both have played in turn',
  'ana comes back in the middle of her turn, and has her hand',
  'she lets her time pass, and draws a card',
  expect.stringMatching(/^(ana|ben) has played the last card$/),
]

/** In memory they play below, where the script's process is killed meanwhile. */
const stores = testBackends.filter(({ name }) => name === 'postgres')

it.concurrent.each(stores)(
  '[R-STA-4] [R-STA-5] [S-STA-3] two players play a game of cards on $name',
  async (backend) => {
    const store = await backend.open()
    await store.db.close()
    const node = await startNodeProcess({ ...keys, 'database.url': store.url })
    try {
      expect(await playCards(node.url)).toEqual(steps)
      await vi.waitFor(() => expectRecord(node.url))
    } finally {
      await node.stop()
      await store.dispose()
    }
  },
)

/** The result is what `ended` of the definition has made. */
async function expectRecord(url: string): Promise<void> {
  const client = createConsoleClient(url)
  await client.signIn({ username: 'admin', password: 'password' })
  const { items } = await client.matchRecords.list({ query: {} })
  expect(items).toMatchObject([{ mode: 'cards', open: false, peak_participants: 2 }])
  const params = { match_id: items[0]?.match_id ?? '' }
  const { result_json } = await client.matchRecords.get({ params, query: {} })
  expect(JSON.parse(result_json ?? '{}')).toMatchObject({ moves: expect.any(Number) })
}

it('[R-STA-2] no card of a hand is on the wire of the other player', async () => {
  const node = await startNodeProcess(keys)
  onTestFinished(() => void node.stop())
  const heard: Buffer[] = []
  class Tapped extends WebSocket {
    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      super(...args)
      this.addEventListener('message', ({ data }) => heard.push(Buffer.from(data as ArrayBuffer)))
    }
  }
  const ana = await sitDown(node.url, { name: 'ana', table: 'green' })
  const options = { WebSocket: Tapped }
  const ben = await sitDown(node.url, { name: 'ben', table: 'green', options })
  await ben.sees(({ top }) => top !== null)
  const ofBen = new Set(ben.room.own)
  const played = new Set<string>([ben.room.state?.top ?? ''])
  for (let n = 0; n < 4; n += 1) {
    await (n % 2 === 0 ? ana : ben).move()
    await ben.sees(({ moves }) => moves >= n + 2)
    for (const card of ben.room.own ?? []) ofBen.add(card)
    played.add(ben.room.state?.top ?? '')
  }
  const wire = Buffer.concat(heard)
  for (const card of [...ofBen, ...played]) expect(wire.includes(card), card).toBe(true)
  const hidden = ana.room.own ?? []
  expect(hidden.length).toBeGreaterThan(0)
  for (const card of hidden) expect(wire.includes(card), card).toBe(false)
  await Promise.all([ana.connection.close(), ben.connection.close()])
})

it('[R-STA-6] the script’s process is killed in the middle of a turn: the game goes on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-cards-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const game = join(folder, 'game')
  cpSync(keys['runtime.scripts_dir'], game, { recursive: true })
  const main = join(game, 'main.ts')
  const kill = `guildhall.on_rpc('kill', () => process.kill(process.pid, 'SIGKILL'))\n`
  writeFileSync(main, `${readFileSync(main)}\n${kill}`)
  const node = await startNodeProcess({ ...keys, 'runtime.scripts_dir': game })
  onTestFinished(() => void node.stop())

  async function inBetween(ana: Hand, ben: Hand): Promise<void> {
    const client = createConsoleClient(node.url)
    await client.signIn({ username: 'admin', password: 'password' })
    await ben.move()
    const params = { id: ana.room.id }
    const { moves } = await ana.sees(({ turn }) => turn === ana.connection.participant)
    // The state of a moment ago is kept within a second.
    await vi.waitFor(async () => {
      const { state } = await client.matches.state({ params })
      expect(state).toMatchObject({ moves })
    })
    const before = { view: ben.room.state, hands: [ana.room.own, ben.room.own] }
    const whole = new Promise((resolve) => ben.room.on('state', (_, changes) => resolve(changes)))
    await client.runtime.rpc({ params: { method: 'kill' }, body: { payload: '' } }).catch(() => {})
    expect(await whole).toMatchObject([{ path: [] }])
    expect({ view: ben.room.state, hands: [ana.room.own, ben.room.own] }).toEqual(before)
  }

  expect(await playCards(node.url, { inBetween })).toEqual(steps)
})

it('passes the tests of its script', async () => {
  const config = fileURLToPath(new URL('./node.toml', import.meta.url))
  const { code, stdout } = await runScriptTests(['--config', config])
  expect(code, stdout).toBe(0)
  expect(stdout).toContain('pass 5')
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ConsoleClient, createConsoleClient } from '@guildhall/client/console'
import { kinds, type Status } from '@guildhall/contract'
import { afterAll, expect, it, onTestFinished, vi } from 'vitest'
import { browserForTests } from '../../packages/dashboard/src/testing/browser.ts'
import { startNodeProcess } from '../../packages/server/src/testing/node-process.ts'
import { joinArena } from './fighter.ts'
import { servePage } from './page-server.ts'

const browser = await browserForTests()
afterAll(() => browser?.close())
type Page = Awaited<ReturnType<NonNullable<typeof browser>['newPage']>>

it.skipIf(browser === undefined).each([
  ['plays, and a reload keeps the seat', false],
  ['plays by datagrams', true],
])('[R-SDK-6, R-SDK-23] the page %s in a real browser', async (_does, byDatagrams) => {
  const page = await servePage(0)
  onTestFinished(() => page.close())
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-arena-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const node = await startNodeProcess({
    'runtime.scripts_dir': fileURLToPath(new URL('./game', import.meta.url)),
    'rooms.reconnect_grace_ms': '20000',
    'http.cors_origins': page.url,
    'database.url': `sqlite:${join(folder, 'arena.db')}`,
    'lag_diagnostics.enabled': 'true',
    'lag_diagnostics.raw_root': folder,
    'lag_diagnostics.allowed_origins': page.url,
    'transport.quic.enabled': String(byDatagrams),
    'transport.quic.bind': '127.0.0.1:0',
  })
  onTestFinished(() => node.stop().then(() => {}))
  const tab = await browser?.newPage()
  if (tab === undefined) return
  const problems: string[] = []
  tab.on('pageerror', ({ message }) => problems.push(message))

  await tab.goto(`${page.url}/?node=${node.url}`)
  await tab.fill('#name', 'you')
  await tab.click('form > button')
  await tab.waitForSelector('#scores li')
  const ana = await joinArena(node.url, 'ana', 'courtyard')
  const you = [...ana.room.members.values()].find(({ username }) => username?.startsWith('you'))
  await tab.waitForFunction("document.querySelectorAll('#scores li').length === 2")

  const placeOf = async () => {
    const { players } = await ana.sees(() => true)
    return players.find(({ id }) => id === you?.participant)
  }
  const before = await placeOf()
  await tab.keyboard.down('KeyD')
  await ana.sees(({ players }) =>
    players.some(({ id, x }) => id === you?.participant && x !== before?.x),
  )
  await tab.keyboard.up('KeyD')
  const transport = byDatagrams ? 'WebTransport, with datagrams' : 'WebSocket'
  expect(await tab.textContent('#transport')).toBe(`over ${transport}`)
  // Where nothing moves, no state comes.
  ana.play(true)
  await record({ tab, url: node.url, participant: you?.participant ?? 0 })
  if (byDatagrams) {
    // The flash of a spark that ana gathers.
    await vi.waitFor(async () => {
      const { metrics } = (await (await fetch(`${node.url}/status`)).json()) as Status
      expect(metrics.quic_datagrams_in_total).toBeGreaterThan(0)
      expect(metrics.quic_datagrams_out_total).toBeGreaterThan(0)
    })
    return
  }

  ana.play(false)
  const returned = new Promise((resolve) => ana.room.on('return', resolve))
  await tab.reload()
  expect(await returned).toMatchObject({ participant: you?.participant })
  await tab.waitForFunction("document.querySelectorAll('#scores li').length === 2")
  expect(problems).toEqual([])
  await ana.connection.close()
})

type Recorded = { tab: Page; url: string; participant: number }

const stateKind = kinds.ROOM_STATE.first

/** [R-SDK-28] [L-UP-6] An operator records when states arrive, and who plays is asked for it. */
async function record({ tab, url, participant }: Recorded): Promise<void> {
  const client = createConsoleClient(url)
  await client.signIn({ username: 'admin', password: 'password' })
  const filters = [{ kind: stateKind, direction: 'inbound' }]
  const options = { participants: [participant], filters, duration_ms: 60_000 }
  const words = () => tab.textContent('#recording-words')
  const box = tab.locator('#recording')

  await expect.poll(() => ask(client, 'lag.start', options)).toHaveProperty('capture_id')
  await expect.poll(words).toBe('May the operator record timings, never content?')
  await tab.click('text=No')
  await box.waitFor({ state: 'hidden' })
  await expect.poll(async () => (await newest(client)).state).toBe('expired')

  await ask(client, 'lag.start', options)
  await tab.click('text=Allow')
  await expect.poll(words).toBe('A recording of timings runs, never of content.')
  const { capture_id } = await newest(client)
  const counts = async () => (await ask(client, 'lag.status', { capture_id })).recorders[0]
  // It says how much it has every five seconds.
  await expect.poll(async () => (await counts()).packets).toBeGreaterThan(20)
  await ask(client, 'lag.flush', { capture_id })
  await box.waitFor({ state: 'hidden' })
  const report = async () => (await client.lag.reports({ query: {} })).items[0]
  await expect.poll(async () => (await report())?.status).toBe('complete')
  expect(await report()).toMatchObject({
    summaries: [{ key: { packet_kind: stateKind, direction: 'inbound' } }],
    server: [{ key: { packet_kind: stateKind, direction: 'inbound' } }],
  })

  await ask(client, 'lag.start', options)
  await tab.click('text=Allow')
  await expect.poll(words).toBe('A recording of timings runs, never of content.')
  await tab.click('text=Stop')
  await box.waitFor({ state: 'hidden' })
  await expect.poll(async () => (await newest(client)).recorders.failed).toBe(1)
}

async function ask(client: ConsoleClient, method: string, payload: object) {
  const body = { payload: JSON.stringify(payload) }
  const answer = await client.runtime.rpc({ params: { method }, body })
  return answer.ok ? JSON.parse(answer.reply) : undefined
}

async function newest(client: ConsoleClient) {
  const [capture] = (await client.lag.captures({ query: {} })).items
  if (capture === undefined) throw new Error('no capture')
  return capture
}

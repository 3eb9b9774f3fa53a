import { fileURLToPath } from 'node:url'
import type { Status } from '@guildhall/contract'
import { afterAll, expect, it, onTestFinished, vi } from 'vitest'
import { browserForTests } from '../../packages/dashboard/src/testing/browser.ts'
import { startNodeProcess } from '../../packages/server/src/testing/node-process.ts'
import { joinArena } from './fighter.ts'
import { servePage } from './page-server.ts'

const browser = await browserForTests()
afterAll(() => browser?.close())

it.skipIf(browser === undefined).each([
  ['plays, and a reload keeps the seat', false],
  ['plays by datagrams', true],
])(
  '[R-SDK-6, R-SDK-23] the page %s in a real browser',
  async (_does, byDatagrams) => {
    const page = await servePage(0)
    onTestFinished(() => page.close())
    const node = await startNodeProcess({
      'runtime.scripts_dir': fileURLToPath(new URL('./game', import.meta.url)),
      'rooms.reconnect_grace_ms': '20000',
      'http.cors_origins': page.url,
      'transport.quic.enabled': String(byDatagrams),
      'transport.quic.bind': '127.0.0.1:0',
    })
    onTestFinished(() => void node.stop())
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
    if (byDatagrams) {
      // The flash of a spark that ana gathers.
      ana.play(true)
      await vi.waitFor(async () => {
        const { metrics } = (await (await fetch(`${node.url}/status`)).json()) as Status
        expect(metrics.quic_datagrams_in_total).toBeGreaterThan(0)
        expect(metrics.quic_datagrams_out_total).toBeGreaterThan(0)
      }, 20_000)
      return
    }

    const returned = new Promise((resolve) => ana.room.on('return', resolve))
    await tab.reload()
    expect(await returned).toMatchObject({ participant: you?.participant })
    await tab.waitForFunction("document.querySelectorAll('#scores li').length === 2")
    expect(problems).toEqual([])
    await ana.connection.close()
  },
  90_000,
)

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { beforeAll, expect, it } from 'vitest'
import { browserForTests } from '../../packages/dashboard/src/testing/browser.ts'
import { startNodeProcess } from '../../packages/server/src/testing/node-process.ts'

const browser = await browserForTests()

/** A player of the SDK: says what carried it, and what came back both ways and after the end. */
const program = `
import { createPlayer, localStorageStore } from './packages/client/src/index.ts'

/** Whoever is signed in, or somebody new; connected, and asked to enter a room if it is in none. */
export async function come(url) {
  const player = createPlayer(url, { store: localStorageStore('player') })
  if (!(await player.restore())) {
    await player.signIn.device({ id: crypto.randomUUID(), create: true, username: 'q' + Date.now() })
  }
  const connection = await player.connect()
  const wasIn = connection.rooms.current !== null
  const room = connection.rooms.current ?? (await connection.rooms.joinOrCreate('seat'))
  return { transport: connection.transport, wasIn, members: [...room.members.keys()] }
}

export async function play(url) {
  const player = createPlayer(url)
  await player.signIn.device({ id: crypto.randomUUID(), create: true, username: 'p' + Date.now() })
  const connection = await player.connect()
  const room = await connection.rooms.joinOrCreate('hall')
  const hear = () => new Promise((resolve) => {
    const off = room.on(101, (message) => { off(); resolve(message.text()) })
  })
  const echoed = []
  for (const unreliable of [false, true]) {
    const heard = hear()
    room.send(100, unreliable ? 'datagram' : 'stream', { unreliable })
    echoed.push(await heard)
  }
  await connection.reconnect()
  const { transport } = connection
  const isBack = connection.rooms.current?.id === room.id
  await connection.close()
  return { transport, echoed, isBack, state: connection.state }
}
`
const script = `guildhall.on_message(100, (ctx, body) => {
  guildhall.send(ctx.sender, 101, body, ctx.unreliable)
})`

let url = ''
let content = ''

/** A node, and the bundle of the program above. */
beforeAll(async () => {
  if (browser === undefined) return
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-sdk-'))
  await writeFile(join(folder, 'main.ts'), script)
  const node = await startNodeProcess({
    'runtime.scripts_dir': folder,
    'transport.quic.enabled': 'true',
    'transport.quic.bind': '127.0.0.1:0',
  })
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: join(import.meta.dirname, '../..'), loader: 'ts' },
    bundle: true,
    format: 'iife',
    globalName: 'Sdk',
    write: false,
  })
  url = node.url
  content = outputFiles[0]?.text ?? ''
  return async () => {
    await Promise.all([browser.close(), node.stop()])
    await rm(folder, { recursive: true, force: true })
  }
})

it.skipIf(browser === undefined).each(['127.0.0.1', 'localhost'])(
  '[R-SDK-6] [R-SDK-23] a page at %s plays over WebTransport without asking for it',
  async (host) => {
    const page = await browser?.newPage({ bypassCSP: true })
    await page?.goto(`${url.replace('127.0.0.1', host)}/health`)
    await page?.addScriptTag({ content })
    expect(await page?.evaluate('Sdk.play(location.origin)')).toEqual({
      transport: 'webtransport',
      echoed: ['stream', 'datagram'],
      isBack: true,
      state: 'closed',
    })
    await page?.close()
  },
)

it.skipIf(browser === undefined)('[R-RET-1] a page that is loaded again has its seat', async () => {
  const page = await browser?.newPage({ bypassCSP: true })
  const come = async () => {
    await page?.addScriptTag({ content })
    return page?.evaluate('Sdk.come(location.origin)')
  }
  await page?.goto(`${url}/health`)
  const before = await come()
  expect(before).toMatchObject({ transport: 'webtransport', wasIn: false })
  await page?.reload()
  expect(await come()).toEqual({ ...Object(before), wasIn: true })
  await page?.close()
})

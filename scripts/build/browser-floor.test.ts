import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { browserForTests } from '../../packages/dashboard/src/testing/browser.ts'
import {
  type NodeProcess,
  startNodeProcess,
} from '../../packages/server/src/testing/node-process.ts'
import { newerNames, removeNewer, whatIsLeft } from './browser-floor.ts'

const root = join(import.meta.dirname, '../..')

/** Two players who do what most games do; answers with what they saw. */
const program = `
import { createPlayer, localStorageStore } from './packages/client/src/index.ts'

async function signedIn(url, name) {
  const player = createPlayer(url + '/')
  const id = crypto.randomUUID()
  await player.signIn.device({ id, create: true, username: name + id })
  return player
}

export async function play(url) {
  const ana = await signedIn(url, 'ana')
  const ben = await signedIn(url, 'ben')
  await ana.refresh()
  await ana.account.update({ display_name: 'Ana' })
  const { display_name } = await ana.account.get()
  const [one, other] = await Promise.all([ana.connect(), ben.connect()])
  const room = await one.rooms.joinOrCreate('hall', { team: 1 })
  const greeted = new Promise((resolve) => room.on('join', (member) => resolve(member.user_id)))
  const joined = await other.rooms.join(room.id)
  const heard = new Promise((resolve) => joined.on(101, (message) => resolve(message.json())))
  const isGreeted = (await greeted) === other.userId
  room.send(100, { big: 2n ** 60n, small: [1, 2] })
  const echoed = await heard
  const reply = await one.rpc('echo', { n: 1 })
  const { rooms } = await one.rooms.list({ filter: 'players < 8', limit: 5 })
  const criteria = { properties: { region: 'eu' }, query: 'region == "eu"' }
  const searches = await Promise.all([one, other].map((it) => it.matchmaker.find(criteria)))
  const found = await Promise.all(searches.map((search) => search.room))
  const party = await one.party.create({ open: true })
  while (one.serverNow() === null) await new Promise((resolve) => setTimeout(resolve, 10))
  const isSame = found[0].id === found[1].id
  await one.close()
  await ana.logout()
  await other.close()
  const states = [one.state, other.state].join()
  return { display_name, isGreeted, small: echoed.small, reply, rooms: rooms.length, isSame,
    members: party.members.length, states }
}
`
const seen = {
  display_name: 'Ana',
  isGreeted: true,
  small: [1, 2],
  reply: { n: 1 },
  rooms: 0,
  isSame: true,
  members: 1,
  states: 'closed,closed',
}

const script = `
guildhall.on_rpc('echo', (ctx, body) => body)
guildhall.on_message(100, (ctx, body) => guildhall.broadcast(101, body))
`

let folder = ''
let code = ''
let node: NodeProcess
const browser = await browserForTests()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guildhall-floor-'))
  await writeFile(join(folder, 'main.ts'), script)
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: root, loader: 'ts' },
    bundle: true,
    format: 'iife',
    globalName: 'Sdk',
    // What the packages are compiled to, and nothing is made older than that.
    target: 'es2022',
    write: false,
  })
  code = outputFiles[0]?.text ?? ''
  node = await startNodeProcess({ 'runtime.scripts_dir': folder })
}, 120_000)

afterAll(async () => {
  await browser?.close()
  await node.stop()
  await rm(folder, { recursive: true, force: true })
})

it('[R-SDK-26] the bundle names nothing that is newer than three years', () => {
  expect(newerNames.filter((name) => code.includes(name))).toEqual([])
})

/** What a page saw that runs `start`, an expression for the promise of it. */
async function seenBy(start: string): Promise<unknown> {
  const context = await browser?.newContext({ bypassCSP: true })
  if (context === undefined) return undefined
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.goto(`${node.url}/health`)
  // Into the page itself, behind what the tool of the test has set up there.
  await page.addScriptTag({ content: removeNewer })
  await page.addScriptTag({ content: code })
  await page.evaluate(`(${start}).then(JSON.stringify, (error) => JSON.stringify(error.stack))
    .then((seen) => { document.title = seen })`)
  await page.waitForFunction("document.title !== ''")
  return JSON.parse(await page.title())
}

it.skipIf(browser === undefined)(
  '[R-SDK-26] the bundle plays in a page where everything newer is gone',
  async () => {
    const start = `Sdk.play(location.origin).then((seen) => ({ seen, left: ${whatIsLeft} }))`
    expect(await seenBy(start)).toEqual({ seen, left: [] })
  },
)

it.skipIf(browser === undefined)(
  '[R-SDK-26] the bundle plays in a dedicated worker where everything newer is gone',
  async () => {
    const inWorker = `${removeNewer}
      ${code}
      onmessage = ({ data }) => Sdk.play(data)
        .then((seen) => postMessage({ seen, left: ${whatIsLeft} }), (error) => postMessage(error.stack))`
    const start = `new Promise((resolve) => {
      const program = new Blob([${JSON.stringify(inWorker)}], { type: 'text/javascript' })
      const worker = new Worker(URL.createObjectURL(program))
      worker.onmessage = ({ data }) => resolve(data)
      worker.onerror = ({ message }) => resolve(message)
      worker.postMessage(location.origin)
    })`
    expect(await seenBy(start)).toEqual({ seen, left: [] })
  },
)

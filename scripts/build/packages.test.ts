import { execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createPlayer } from '@guildhall/client'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { buildDashboard } from '../../packages/dashboard/src/build/build-page.ts'
import { openLine } from '../../packages/server/src/realtime/client-sdk/cut-line.fixture.ts'
import {
  type NodeProcess,
  startNodeProcess,
} from '../../packages/server/src/testing/node-process.ts'
import { type LocalRegistry, startRegistry } from './local-registry.fixture.ts'
import { packageFolders, packedFolder, packPackages } from './packages.ts'
import { createStudio, type Running } from './project.fixture.ts'

/**
 * The packages as a studio gets them: packed, installed into an empty project, compiled, bundled
 * and run against a node, all without a network.
 */

const root = join(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const run = promisify(execFile)

/** What a game's first program does. */
const program = (url: string) => `
import { createPlayer, GuildhallError, type Connection } from '@guildhall/client'
type Game = {
  rpcs: { echo: { payload: { n: number }; reply: { n: number } } }
  kinds: Record<never, never>
}
const player = createPlayer<Game>(${JSON.stringify(url)})
const id = crypto.randomUUID()
await player.signIn.device({ id, create: true, username: id })
const profile: { username: string } = await player.account.get()
const connection: Connection<Game> = await player.connect()
const refusal = await connection.rpc('echo', { n: 1 }).catch((error: unknown) => error)
const code = refusal instanceof GuildhallError ? refusal.code : 'none'
console.log(JSON.stringify({ isOwn: profile.username === id, state: connection.state, code }))
await connection.close()
`

let folder = ''
let node: NodeProcess
let registry: LocalRegistry

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guildhall-packed-'))
  await buildDashboard()
  await packPackages()
  node = await startNodeProcess()
  const names = ['guildhall-contract', 'guildhall-client', 'create-guildhall', 'guildhall']
  const files = names.map((name) => tarball(name))
  registry = await startRegistry(new Map(packageFolders.map((path, at) => [path, files[at] ?? ''])))
  await installBoth()
}, 120_000)

afterAll(async () => {
  await node.stop()
  await registry.close()
  // What a stopped project still writes may be in the way of the first try.
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

function tarball(name: string): string {
  return join(packedFolder, `${name}-${version}.tgz`)
}

/** What a project has besides; not from a registry, but resolved by the same rules. */
async function addDependency(project: string, name: string): Promise<void> {
  await symlink(join(root, 'node_modules', name), join(project, 'node_modules', name))
}

const emptyProject = () => join(folder, 'empty')

/** Makes an empty project with both packages, which npm installs from their tarballs alone. */
async function installBoth(): Promise<void> {
  const cwd = emptyProject()
  await mkdir(cwd)
  await writeFile(join(cwd, 'package.json'), '{"type":"module","private":true}')
  const files = ['contract', 'client'].map((name) => tarball(`guildhall-${name}`))
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...files], { cwd })
}

/** A project of its own, as npm left the empty one. */
async function openProject(name: string, compilerOptions: object): Promise<string> {
  const project = join(folder, name)
  await cp(emptyProject(), project, { recursive: true, verbatimSymlinks: true })
  const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, types: [] }
  const config = { compilerOptions: { ...strict, ...compilerOptions }, include: ['src'] }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config))
  await mkdir(join(project, 'src'))
  await writeFile(join(project, 'src/main.ts'), program(node.url))
  return project
}

const seen = { isOwn: true, state: 'open', code: 'rpc_refused' }

it('[R-SDK-1] [R-SDK-26] compiles and runs in an empty project of Node.js', async () => {
  const project = await openProject('node', {
    target: 'es2022',
    lib: ['es2022', 'dom'],
    module: 'nodenext',
    rootDir: 'src',
    outDir: 'out',
  })
  const installed = join(project, 'node_modules')
  expect((await readdir(installed)).filter((name) => !name.startsWith('.'))).toEqual(['@guildhall'])
  expect(await readdir(join(installed, '@guildhall'))).toEqual(['client', 'contract'])
  await compile(project)
  expect(await runProgram(project, 'out/main.js')).toEqual(seen)
}, 120_000)

it.each(['client', 'contract'])(
  '[R-SDK-26] the packed %s says what it is, and holds its source maps',
  async (name) => {
    const packed = await mkdtemp(join(folder, 'packed-'))
    await run('tar', ['-xzf', tarball(`guildhall-${name}`), '-C', packed, '--strip-components=1'])
    const files = await readdir(packed, { recursive: true })
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json']))
    const manifest = JSON.parse(await readFile(join(packed, 'package.json'), 'utf8'))
    expect(manifest).toMatchObject({
      license: 'Apache-2.0',
      repository: { directory: `packages/${name}` },
      description: expect.any(String),
      sideEffects: false,
    })
    expect(manifest).not.toHaveProperty('private')
    const entries = Object.values<{ types: string; default: string }>(manifest.exports)
    for (const path of entries.flatMap((entry) => Object.values(entry))) {
      expect(files).toContain(path.replace('./', ''))
    }
    const programs = files.filter((file) => file.endsWith('.js'))
    for (const program of programs) {
      const map = JSON.parse(await readFile(join(packed, `${program}.map`), 'utf8'))
      expect(map.sourcesContent[0], program).toMatch(/\w/)
    }
    expect(files.filter((file) => /\.test\.|testing|fixture/.test(file))).toEqual([])
  },
)

it.skipIf(!existsSync(join(root, 'node_modules/vite/package.json')))(
  '[R-SDK-1] compiles, bundles and runs in an empty project of Vite, without a schema library',
  async () => {
    const project = await openProject('vite', {
      target: 'es2022',
      lib: ['es2022', 'dom'],
      module: 'esnext',
      moduleResolution: 'bundler',
      noEmit: true,
    })
    await addDependency(project, 'vite')
    await compile(project)
    const page = '<!doctype html><script type="module" src="/src/main.ts"></script>'
    await writeFile(join(project, 'index.html'), page)
    // The polyfill is for pages, and this page is run without a browser.
    const settings = { build: { target: 'esnext', modulePreload: { polyfill: false } } }
    const config = `export default ${JSON.stringify(settings)}`
    await writeFile(join(project, 'vite.config.js'), config)
    const vite = ['node_modules/vite/bin/vite.js', 'build']
    await run(process.execPath, vite, { cwd: project })
    const [bundle] = await readdir(join(project, 'dist/assets'))
    const code = await readFile(join(project, 'dist/assets', bundle ?? ''), 'utf8')
    expect(code).not.toContain('ZodError')
    expect(await runProgram(project, `dist/assets/${bundle}`)).toEqual(seen)
  },
  120_000,
)

it('[R-SDK-24] the console client and the codecs are entry points of the packed packages', async () => {
  const project = await openProject('entries', { module: 'nodenext', noEmit: true })
  // What operators' tools need, and players do not.
  await addDependency(project, 'zod')
  await writeFile(
    join(project, 'entries.js'),
    `import { createConsoleClient } from '@guildhall/client/console'
     import { api, encodeFrame } from '@guildhall/contract'
     import { FrameDecoder, splitSender, tagWithSender } from '@guildhall/contract/wire'
     const client = createConsoleClient(${JSON.stringify(node.url)})
     const { role } = await client.signIn({ username: 'admin', password: 'password' })
     const decoder = new FrameDecoder(64)
     decoder.push(encodeFrame(100, tagWithSender(42, new Uint8Array([7]))))
     const { sender } = splitSender(decoder.next().body)
     console.log(JSON.stringify({ role, sender, hasRoutes: 'signIn' in api }))`,
  )
  const entries = { role: 'admin', sender: 42, hasRoutes: true }
  expect(await runProgram(project, 'entries.js')).toEqual(entries)
}, 120_000)

it('[R-SDK-23] the tutorial of docs/client.md runs as it is written, also over a restart', async () => {
  const start = async () => {
    const started = await startNodeProcess({
      'runtime.scripts_dir': join(root, 'examples/arena/game'),
      'runtime.tick_hz': '20',
      'database.url': `sqlite:${join(folder, 'arena.db')}`,
    })
    onTestFinished(() => void started.stop())
    return { ...started, port: Number(new URL(started.url).port) }
  }
  const first = await start()
  const line = await openLine(first.port)
  onTestFinished(() => line.close())
  const project = await openProject('tutorial', { module: 'nodenext', noEmit: true })
  await writeFile(join(project, 'src/main.ts'), await tutorial(line.url))
  await compile(project)
  const game = spawn(process.execPath, ['src/main.ts'], { cwd: project, stdio: 'pipe' })
  onTestFinished(() => void game.kill())
  let said = ''
  for (const output of [game.stdout, game.stderr]) output.on('data', (text) => (said += text))
  const until = (text: RegExp) => vi.waitFor(() => expect(said).toMatch(text))
  await until(/connected as user-/)
  await until(/players are at [\d.]+, [\d.]+\nplayers are at /)
  await first.stop()
  await until(/lost; next try in [\d.]+ ms/)
  line.leadTo((await start()).port)
  await until(/back in room 1\n/)
  expect(said).not.toMatch(/closed for good|Error/)
}, 120_000)

/** The program of the ten minutes, with the address of a node. */
async function tutorial(url: string): Promise<string> {
  const page = await readFile(join(root, 'docs/client.md'), 'utf8')
  const [, chapter = ''] = /\n## Ten minutes(.*?)\n## /s.exec(page) ?? []
  const steps = [...chapter.matchAll(/\n```ts\n(.*?)```\n/gs)].map(([, code]) => code)
  expect(steps).toHaveLength(6)
  return steps.join('').replace('http://127.0.0.1:7350', url)
}

/** Does in a project what docs/first-hour.md says, where it writes a rule and its test. */
async function addPrize(project: string): Promise<void> {
  const page = await readFile(join(root, 'docs/first-hour.md'), 'utf8')
  const steps = [...page.matchAll(/\n```ts\n(.*?)```\n/gs)].map(([, code]) => code)
  expect(steps).toHaveLength(3)
  const [protocol, rule, itsTest] = steps
  const change = async (name: string, edit: (text: string) => string) => {
    const path = join(project, 'game', name)
    await writeFile(path, edit(await readFile(path, 'utf8')))
  }
  await change('protocol.ts', (text) => text.replace('  rpcs: {\n', `$&${protocol}`))
  await change('main.ts', (text) => {
    // The line that it lets the reader change.
    expect(text).toContain('(scores[username] ?? 0) + more')
    return `${text}\n${rule}`
  })
  await change('main.test.ts', (text) => `${text}\n${itsTest}`)
}

describe('a project of its own', () => {
  const studio = () => createStudio({ registry: registry.url, cache: join(folder, 'cache') })
  const game = () => join(folder, 'my-game')
  const inGame = (line: string) => studio().run(game(), line.split(' '))
  /** What `npx` runs, without npm, which takes as long as most commands. */
  const guildhall = (line: string) => inGame(`node_modules/.bin/guildhall ${line}`)
  const start = async (line: string, env = {}): Promise<Running> => {
    const running = await studio().start(game(), line.split(' '), env)
    onTestFinished(() => running.stop())
    return running
  }

  beforeAll(async () => {
    const made = await studio().run(folder, ['npm', 'create', '--yes', 'guildhall', 'my-game'])
    expect(made.said).toContain('npm run dev')
    expect(await inGame('npm install')).toMatchObject({ code: 0 })
  }, 120_000)

  it('has a script with a test, a page, a configuration, and what it installs', async () => {
    const files = await readdir(game())
    const wanted = ['game', 'src', 'index.html', 'guildhall.toml', 'package.json', '.gitignore']
    expect(files).toEqual(expect.arrayContaining(wanted))
    expect(await readFile(join(game(), 'package.json'), 'utf8')).not.toContain('{{')
    const installed = await readdir(join(game(), 'node_modules'))
    expect(installed).toEqual(expect.arrayContaining(['guildhall', '@guildhall', '@node-rs']))
  })

  it('passes its test, its types and the build of its page, also with the rule of the first hour', async () => {
    await addPrize(game())
    const tested = await inGame('npm test')
    expect(tested.code, tested.said).toBe(0)
    const checked = await inGame('npm run check')
    expect(checked.code, checked.said).toBe(0)
    expect(await inGame('npm run build')).toMatchObject({ code: 0 })
    expect(await readdir(join(game(), 'dist'))).toContain('index.html')
  }, 120_000)

  it('serves its game and the dashboard, and says where', async () => {
    const node = await start('npm start')
    const player = createPlayer(node.url)
    await player.signIn.device({ id: 'a-device-of-ana', create: true, username: 'ana' })
    const connection = await player.connect()
    const room = await connection.rooms.joinOrCreate('lobby')
    const scores = new Promise((resolve) => room.on(101, (message) => resolve(message.json())))
    expect(await scores).toEqual({})
    expect(await connection.rpc('best')).toBeUndefined()
    await connection.close()
    expect((await fetch(`${node.url}/dashboard`)).status).toBe(200)
    await vi.waitFor(() => expect(node.said()).toContain('kept in my-game.db'))
    const taken = await guildhall(`start --bind ${new URL(node.url).host}`)
    expect(taken).toMatchObject({ code: 4 })
  })

  it('[O-CLI-1] has every command of the node, from any folder', async () => {
    const { said } = await inGame('npx guildhall --help')
    for (const word of ['serve, start', 'dev', 'init', 'bundle', 'doctor'])
      expect(said).toContain(word)
    expect((await guildhall('check')).said).toContain('script=main.ts')
    expect((await guildhall('doctor')).code).toBe(0)
    expect((await guildhall('init')).said).toContain('game is not empty')
    expect(await guildhall('init second')).toMatchObject({ code: 0 })
    const tested = await guildhall('test second')
    expect(tested.code, tested.said).toBe(0)
    expect(await guildhall('nonsense')).toMatchObject({ code: 2 })
  }, 120_000)

  it('checks what clients send by the entry for scripts of the packed contract', async () => {
    expect(await guildhall('init checked')).toMatchObject({ code: 0 })
    for (const [name, text] of Object.entries(checkedGame)) {
      await writeFile(join(game(), 'checked', name), text)
    }
    const tested = await guildhall('test checked')
    expect(tested.code, tested.said).toBe(0)
    const compiled = await inGame('node_modules/.bin/tsc -p checked')
    expect(compiled.code, compiled.said).toBe(0)
  }, 120_000)

  it('[S-REL-3] loads its script again when it is saved, and bots play meanwhile', async () => {
    const node = await start('npm run dev')
    await vi.waitFor(() => expect(node.said()).toContain('loaded again whenever it is saved'))
    const address = new URL(node.url).host
    const playing = inGame(`npm run bots -- --clients 12 --seconds 4 --bind ${address}`)
    const player = createPlayer(node.url)
    await player.signIn.device({ id: 'a-device-of-dev', create: true, username: 'dev' })
    const connection = await player.connect()
    const main = join(game(), 'game/main.ts')
    await writeFile(main, `${await readFile(main, 'utf8')}\ngame.on_rpc('new', () => 'new')\n`)
    const reply = () => connection.rpc('new', undefined, { as: 'text' })
    await vi.waitFor(async () => expect(await reply()).toBe('new'))
    const again = await guildhall('reload')
    expect(again).toMatchObject({ code: 0, said: expect.stringMatching(/^active: generation \d/m) })
    const profiled = await guildhall('profile --seconds 1 --out game.cpuprofile')
    expect(profiled.code, profiled.said).toBe(0)
    const profile: unknown = JSON.parse(await readFile(join(game(), 'game.cpuprofile'), 'utf8'))
    expect(profile).toMatchObject({ nodes: expect.any(Array), samples: expect.any(Array) })
    expect([await reply(), connection.state]).toEqual(['new', 'open'])
    await connection.close()
    const { code, said } = await playing
    expect(code, said).toBe(0)
    expect(said).toMatch(/connected +12 of 12/)
    expect(said).toMatch(/lost meanwhile +0/)
  }, 120_000)

  it('[S-SEL-8] bundles its script, and serves the bundle', async () => {
    const bundled = await guildhall('bundle')
    expect(bundled.code, bundled.said).toBe(0)
    const node = await start('npm start', { GUILDHALL_RUNTIME__SCRIPTS_DIR: 'game/dist' })
    await vi.waitFor(() => expect(node.said()).toContain('game/dist/main.js'))
  })
})

/** A game whose validator is written by hand: any that speaks Standard Schema serves. */
const checkedGame = {
  'main.ts': `import { checked, type Schema } from '@guildhall/contract/checked'

const count: Schema<number> = {
  '~standard': {
    validate: (value) =>
      typeof value === 'number' ? { value } : { issues: [{ message: 'must be a number' }] },
  },
}
const game = checked(guildhall, { rpcs: { double: count } })
game.on_rpc('double', (_ctx, n) => 2 * n)
`,
  'main.test.ts': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openGame } from 'guildhall/test'

test('a number is doubled, and a text is refused', async (t) => {
  const game = await openGame(t)
  const ana = await game.signIn('ana')
  assert.equal(await ana.rpc('double', 21), 42)
  await assert.rejects(ana.rpc('double', 'many'), /not valid/)
})
`,
}

async function compile(project: string): Promise<void> {
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { stdout } = await run(tsc, ['--checkers', '1', '-p', project, '--pretty', 'false']).catch(
    (error: { stdout: string }) => error,
  )
  expect(stdout).toBe('')
}

async function runProgram(project: string, file: string): Promise<unknown> {
  const { stdout } = await run(process.execPath, [file], { cwd: project })
  return JSON.parse(stdout)
}

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { placeOf } from '../../packages/server/src/kernel/errors/error-place.ts'
import { languages } from '../../packages/server/src/script/process/languages.ts'
import { runScriptTests } from '../../packages/server/src/testing/script-tests.ts'
import { buildServer, builtPrograms, protocolSources } from './server.ts'

const root = join(import.meta.dirname, '../..')
const main = join(root, 'packages/server/dist/main.mjs')
const folder = mkdtempSync(join(tmpdir(), 'guildhall-built-'))
const cache = join(folder, 'cache')
let node: ChildProcess | undefined

beforeAll(async () => {
  await buildServer()
  return () => rmSync(folder, { recursive: true, force: true })
})
afterEach(() => void node?.kill('SIGKILL'))

async function start(): Promise<{ node: ChildProcess; url: string }> {
  const env = {
    PATH: process.env.PATH,
    XDG_CACHE_HOME: cache,
    GUILDHALL_HTTP__BIND: '127.0.0.1:0',
    GUILDHALL_DATABASE__URL: `sqlite:${join(folder, 'built.db')}`,
  }
  node = spawn(process.execPath, [main, 'serve'], { cwd: folder, env, stdio: 'pipe' })
  const [line] = await once(node.stdout ?? node, 'data')
  const url = /http:\/\/[\d.]+:\d+/.exec(String(line))?.[0]
  if (url === undefined) throw new Error(`no address in ${line}`)
  return { node, url }
}

it('builds a server that serves from a file, hashes passwords and ends in order', async () => {
  const { node, url } = await start()
  expect((await fetch(`${url}/health/ready`)).status).toBe(200)
  const body = { email: 'a@example.com', password: 'right horse', create: true, username: 'a' }
  const signedUp = await fetch(`${url}/v1/auth/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(signedUp.status).toBe(201)
  node.kill('SIGTERM')
  expect(await once(node, 'exit')).toEqual([0, null])
})

it('keeps what a start has compiled, and does without where that was cut short', async () => {
  const isWritten = (name: string) => /-[0-9a-f]+$/.test(name)
  const kept = () =>
    globSync('**/serve.js-*', { cwd: cache })
      .filter(isWritten)
      .map((name) => join(cache, name))
  for (const isCut of [false, true]) {
    const { node } = await start()
    await expect.poll(kept).toHaveLength(1)
    const [file = ''] = kept()
    await expect.poll(() => statSync(file).size).toBeGreaterThan(100_000)
    node.kill('SIGTERM')
    expect(await once(node, 'exit')).toEqual([0, null])
    if (!isCut) truncateSync(file, 50_000)
  }
})

it('builds a server that tests scripts', async () => {
  const game = join(folder, 'game')
  mkdirSync(game)
  writeFileSync(join(game, 'main.ts'), "guildhall.on_rpc('two', (): number => 2)")
  writeFileSync(
    join(game, 'two.test.ts'),
    `import { test } from 'node:test'
    import { openGame } from 'guildhall/test'
    test('two', async (t) => {
      const ana = await (await openGame(t)).signIn('ana')
      t.assert.equal(await ana.rpc('two'), 2)
    })`,
  )
  const { code, stdout } = await runScriptTests([game], { cwd: folder })
  expect(code, stdout).toBe(0)
})

it.each([
  ['program.js', 'program.ts', 'host.argv'],
  // Behind an import of many lines, of which the build makes its own.
  ['script-worker.js', 'script/worker/bindings/surface.ts', 'function createSurface('],
])(
  '[H-ERR-2] builds files whose errors say where their code was written: %s of %s',
  (program, source, text) => {
    const placeIn = (file: string) => {
      const [before = '', behind] = readFileSync(file, 'utf8').split(text)
      const lines = before.split('\n')
      return behind === undefined ? '' : `${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`
    }
    const built = join(dirname(main), program)
    const parts = [...readFileSync(built, 'utf8').matchAll(/from ?"(\.\/[^"]+)"/g)]
    const files = [built, ...parts.map(([, part = '']) => join(dirname(main), part))]
    const file = files.find(placeIn) ?? ''
    const error = new Error('on purpose')
    error.stack = `Error: on purpose\n    at run (${file}:${placeIn(file)})`
    const path = `packages/server/src/${source}`
    const [line] = placeIn(join(root, path)).split(':')
    expect(placeOf(error)).toBe(`${path}:${line}`)
  },
)

it.each([
  ['program.mjs', ['compiled-scripts.mjs']],
  ['serve.mjs', ['compiled-scripts.mjs', 'program.mjs']],
  ['compiled-scripts.mjs', []],
  ['script-javascript.mjs', ['script-worker.mjs']],
  ['script-worker.mjs', ['compiled-scripts.mjs']],
  ['quic-engine.mjs', []],
])('joins all that %s loads at once into one file', (program, others) => {
  const text = readFileSync(join(dirname(main), program), 'utf8')
  const taken = text.matchAll(/\bimport ?(?:[{*][^"]*from ?)?"\.\/([^"]+)"/g)
  const loaded = Array.from(taken, ([, file]) => file)
  expect([...new Set(loaded)]).toEqual(others)
})

it.each([
  ['serve.mjs', /tls|https|worker_threads|dns\/promises/],
  ['script-worker.mjs', /crypto|worker_threads/],
])('loads with %s none of the modules of Node.js that are late: %s', async (program, late) => {
  const file = pathToFileURL(join(dirname(main), program)).href
  const text = `await import('${file}'); console.log(process.moduleLoadList.join('\\n'))`
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', text])
  expect(stdout.split('\n')).toContain('NativeModule vm')
  expect(stdout).not.toMatch(new RegExp(`^NativeModule (${late.source})$`, 'm'))
})

it('leaves what only PostgreSQL needs to those who have it', () => {
  expect(readFileSync(join(dirname(main), 'serve.js'), 'utf8')).not.toContain('node_modules/pg')
})

it('builds nothing anew when nothing changed', async () => {
  expect(await buildServer()).toEqual({ built: false })
})

it('builds the program of every engine that a language names', () => {
  const engines = languages.flatMap(({ engines }) => Object.values(engines))
  expect(engines.length).toBeGreaterThan(0)
  for (const { entry } of engines) expect(existsSync(entry), entry.href).toBe(true)
})

it.each([
  ['script/process/languages.ts', 'script-javascript.mjs'],
  ['script/worker/watchdog/watched.ts', 'script-watchdog.mjs'],
  ['kernel/auth/hashing.ts', 'hashing-worker.mjs'],
  ['database/sqlite/commits/checkpoints.ts', 'checkpoint-worker.mjs'],
  ['database/sqlite/explorer.ts', 'explorer-worker.mjs'],
  ['database/sqlite/reads/long-reads.ts', 'read-worker.mjs'],
  ['realtime/connection/transports/quic/engine/engine-thread.ts', 'quic-engine.mjs'],
  ['features/lag/analysis/analysis-thread.ts', 'lag-analysis.mjs'],
])('in tests %s begins with the built %s', (source, program) => {
  const path = join(root, 'packages/server/src', source)
  expect(builtPrograms.transform(readFileSync(path, 'utf8'), path)).toContain(`/dist/${program}`)
})

it('[S-WP-4] knows another build by every source that messages of scripts are made of', () => {
  const sources = protocolSources()
  // What else this one takes refuses arguments, and is in no message.
  const whole = sources.filter((path) => !path.endsWith('/functions/arguments.ts'))
  const taken = whole.flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    const places = text.matchAll(/^import \{[^}]*\} from '(\.[^']+)'/gm)
    return Array.from(places, ([, place = '']) => join(dirname(path), place))
  })
  // The contract is taken by its name, and reports by another folder.
  const contract = 'packages/contract/src'
  const named = [
    `${contract}/script/wallet.ts`,
    `${contract}/shapes/wallet.ts`,
    `${contract}/values/exact-json.ts`,
    'packages/server/src/script/worker/watchdog/watchdog-protocol.ts',
  ]
  expect(sources).toEqual(expect.arrayContaining([...taken, ...named]))
})

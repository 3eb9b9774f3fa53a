import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createConsoleClient } from '@guildhall/client/console'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { builtMain } from '../../testing/node-process.ts'

/** The commands for the authors of games, as they run them. */

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'guildhall-game-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

type Ended = { code: number; stdout: string; stderr: string }

function guildhall(line: string, flags: readonly string[] = []): Promise<Ended> {
  return new Promise((resolve) => {
    const argv = [...flags, builtMain, ...line.split(' ')]
    execFile(process.execPath, argv, { cwd, env: {} }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code)
      resolve({ code, stdout, stderr })
    })
  })
}

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true })
    writeFileSync(join(cwd, name), text)
  }
}

it.each([
  ['init', 'main.ts', ['tsconfig.json']],
  ['init --language lua', 'main.lua', ['.luarc.json', 'guildhall.lua']],
  ['init --language python', 'main.py', ['pyrightconfig.json', 'guildhall.pyi']],
])(
  '[S-LANG-5] %s writes a first game, whose script loads and whose test passes',
  async (command, file, forEditors) => {
    expect(await guildhall(command)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('game'),
    })
    const written = readdirSync(join(cwd, 'game'))
    expect(written).toEqual(expect.arrayContaining([file, 'main.test.ts', ...forEditors]))
    for (const stub of forEditors.filter((name) => name.startsWith('guildhall.'))) {
      const shipped = readFileSync(new URL(`../../../${stub}`, import.meta.url), 'utf8')
      expect(readFileSync(join(cwd, 'game', stub), 'utf8')).toBe(shipped)
    }
    expect((await guildhall('check')).stdout).toContain(`script=${file}`)
    expect((await guildhall('test')).code).toBe(0)
    const again = await guildhall('init')
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is not empty')])
  },
)

/** In a process with these flags no engine is found, as after an installation without them. */
const withoutEngines = [
  '--import',
  `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(name, about, next) {
        if (/^(pyodide|quickjs-wasi|wasmoon)\\//.test(name)) throw new Error('not installed')
        return next(name, about)
      },
    })`)}`,
]

it.each([
  ['serve --bind 127.0.0.1:0', 1, 'main.lua', 'wasmoon'],
  ['check', 2, 'main.lua', 'wasmoon'],
  ['check', 2, 'main.py', 'pyodide'],
  ['check --set runtime.tier=sandboxed', 2, 'main.ts', 'quickjs-wasi'],
])(
  '[S-SEL-4] %s ends with %i where the engine of %s is not installed, and names %s',
  async (line, code, file, needed) => {
    write({ [`game/${file}`]: '' })
    const ended = await guildhall(line, withoutEngines)
    expect(ended.stderr).toContain(`is not installed: install the package ${needed}`)
    expect([ended.code, ended.stdout]).toEqual([code, ''])
  },
)

it('init knows the aliases of a language, and says which there are', async () => {
  expect(await guildhall('init a --language ts --json')).toMatchObject({ code: 0 })
  const { code, stderr } = await guildhall('init b --language klingon')
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('no language "klingon": typescript, lua'),
  ])
  expect(readdirSync(cwd)).toEqual(['a'])
})

it('[S-SEL-8] packages are found up to the folder of the configuration, and not above it', async () => {
  write({
    'game/main.ts': "import { one } from 'one'\nguildhall.on_rpc('one', (): number => one)",
    'node_modules/one/package.json': '{"name":"one","type":"module","exports":"./index.js"}',
    'node_modules/one/index.js': 'export const one = 1',
    'game/own.toml': '[runtime]\nscripts_dir = "."',
  })
  expect((await guildhall('check')).stdout).toContain('script=main.ts')
  const { code, stderr } = await guildhall('check --config game/own.toml')
  expect([code, stderr]).toEqual([2, expect.stringContaining('the package one is not there')])
})

it('[S-SEL-8] bundle joins files and packages into one, with a map', async () => {
  write({
    'game/main.ts': "import { two } from './two.ts'\nguildhall.on_rpc('two', (): number => two)",
    'game/two.ts': "import { one } from 'one'\nexport const two = one + one",
    'node_modules/one/package.json': '{"name":"one","type":"module","exports":"./index.js"}',
    'node_modules/one/index.js': 'export const one = 1',
  })
  expect(await guildhall('bundle')).toMatchObject({ code: 0 })
  const bundled = readFileSync(join(cwd, 'game/dist/main.js'), 'utf8')
  expect(bundled).not.toMatch(/^import/m)
  expect(bundled).toContain('//# sourceMappingURL=main.js.map')
  const { sources } = JSON.parse(readFileSync(join(cwd, 'game/dist/main.js.map'), 'utf8'))
  expect(sources).toContain('../two.ts')
  const checked = await guildhall('check --set runtime.scripts_dir=game/dist')
  expect(checked.stdout).toContain('script=main.js')
})

it('[S-SEL-8] bundle names the chain of imports to a module of Node.js', async () => {
  write({
    'game/main.ts': "import './rules.ts'\nguildhall.on_rpc('a', () => 1)",
    'game/rules.ts': "import 'deep'",
    'game/node_modules/deep/package.json': '{"name":"deep","main":"index.js"}',
    'game/node_modules/deep/index.js': "require('fs')",
  })
  const { code, stderr } = await guildhall('bundle ./game')
  expect(code).toBe(1)
  expect(stderr).toContain('main.ts imports rules.ts imports node_modules/deep/index.js imports fs')
  expect(readdirSync(join(cwd, 'game'))).not.toContain('dist')
})

it.each([
  ['a file that is not there', "import './missing.ts'", 'missing.ts'],
  ['what does not parse', 'guildhall.on_rpc(', 'main.ts:1'],
])('[S-SEL-8] bundle names %s', async (_, text, named) => {
  write({ 'game/main.ts': text })
  const { code, stderr } = await guildhall('bundle')
  expect([code, stderr]).toEqual([1, expect.stringContaining(named)])
})

it('bundle says that there is no script', async () => {
  const { code, stderr } = await guildhall('bundle nowhere')
  expect([code, stderr]).toEqual([1, expect.stringContaining('no main.ts')])
})

it('[S-VIEW-3] dev shows the failing line with its source, of a load and of a handler', async () => {
  write({ 'game/main.ts': "guildhall.on_rpc('one', () => 1)" })
  const flags = ['--bind', '127.0.0.1:0', '--set', 'transport.quic.enabled=false']
  const child = spawn(process.execPath, [builtMain, 'dev', ...flags], { cwd, env: {} })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
  }
  const says = (text: string) => vi.waitFor(() => expect(said).toContain(text), { interval: 50 })
  try {
    await says('loaded again whenever it is saved')
    write({ 'game/main.ts': "guildhall.on_rpc('one', () => 1)\nconst sword =\nthrow new Error()" })
    await says('    > 3 | throw new Error()\n')
    expect(said).toMatch(/ERROR script: a script was rejected .*main\.ts:3: SyntaxError/)
    write({
      'game/main.ts': `guildhall.on_rpc('one', () => 1)
guildhall.on_rpc('two', () => {
  throw new Error('no dice')
})`,
    })
    const client = createConsoleClient(/ready http=(\S+)/.exec(said)?.[1] ?? '')
    await client.signIn({ username: 'admin', password: 'password' })
    const call = { params: { method: 'two' }, body: { payload: '' } }
    const error = async () => {
      const answer = await client.runtime.rpc(call)
      return answer.ok ? '' : answer.error
    }
    await vi.waitFor(async () => expect(await error()).toBe('RPC handler error'))
    await says("    > 3 |   throw new Error('no dice')\n")
    expect(said).toContain("      2 | guildhall.on_rpc('two', () => {\n")
  } finally {
    child.kill()
    await once(child, 'exit')
  }
})

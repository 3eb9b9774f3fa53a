import { createHash } from 'node:crypto'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ScriptConfig } from '../config.ts'
import { openHarness, startHarness } from '../host.fixture.ts'
import { ScriptLoadError } from './load-error.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const minimal = `guildhall.on_rpc('x', () => 'x')`

describe('selection', () => {
  it.each([
    [['main.ts', 'main.mjs', 'main.js'], undefined, 'main.ts', 'typescript', 'autodetected'],
    [['main.mjs', 'main.js'], undefined, 'main.mjs', 'javascript', 'autodetected'],
    [['main.js'], undefined, 'main.js', 'javascript', 'autodetected'],
    [['main.ts', 'main.js'], 'js', 'main.js', 'javascript', 'explicit'],
    [['main.ts', 'main.js'], 'typescript', 'main.ts', 'typescript', 'explicit'],
  ])(
    '[S-SEL-1] [S-VIEW-2] of %j with language %s takes %s',
    async (names, language, file, name, source) => {
      const files = Object.fromEntries(names.map((name) => [name, minimal]))
      const { host, folder, rpc } = await startHarness({
        files,
        config: language ? { language } : {},
      })
      expect(host.describe()).toMatchObject({
        selected_language: name,
        configured_language: source === 'explicit' ? name : null,
        selection_source: source,
        entrypoint: `${folder}/${file}`,
        attached: true,
      })
      expect(await rpc('x')).toBe('x')
    },
  )

  it.each<[string, { [path: string]: string }, Partial<ScriptConfig>]>([
    ['there is no entry file', { 'other.ts': minimal }, {}],
    ['the language has none', { 'main.ts': minimal }, { language: 'lua' }],
    ['the runtime is off', { 'main.ts': minimal }, { enabled: false }],
    ['there is no folder', {}, { scripts_dir: '/does/not/exist' }],
  ])(
    '[S-SEL-2] [S-VIEW-1] [S-VIEW-2] runs without a script when %s',
    async (_name, files, config) => {
      const { host, rpc } = await startHarness({ files, config })
      expect(host.describe()).toEqual({
        enabled: config.enabled ?? true,
        configured_language: config.language ?? null,
        selected_language: null,
        selection_source: null,
        entrypoint: null,
        adapter: 'worker',
        tier: 'trusted',
        attached: false,
        tick_hz: 0,
        require_script: false,
        readiness: {
          state: 'no_script',
          revision_id: null,
          generation: 0,
          since_unix_millis: expect.any(Number),
          recovery: { circuit_open: false, consecutive_failures: 0, restart_limit: 5 },
        },
        script: null,
      })
      expect(await rpc('x')).toEqual({ error: 'RPC runtime not available' })
      expect(await host.consoleRpc('x', '')).toEqual({ ok: false, error: 'no game script' })
      expect(host.game.admit()).toBe(true)
    },
  )
})

/** What is wrong with a script, its files, and what the operator reads. */
const refused: [what: string, files: { [path: string]: string }, message: RegExp][] = [
  ['does not parse', { 'main.ts': `\nconst = 1` }, /^main\.ts:2: /],
  ['does not parse as JavaScript', { 'main.js': `\n\nlet let` }, /^main\.js:3: /],
  [
    'has syntax that is not erasable',
    { 'main.ts': `${minimal}\nenum E { A }` },
    /^main\.ts:2: .*enum/,
  ],
  [
    'throws',
    { 'main.mjs': `\n\nthrow new Error('at the top')` },
    /^main\.mjs:3: Error: at the top$/,
  ],
  [
    'throws in another file',
    { 'main.ts': `import './a.ts'`, 'a.ts': `\nnull.x` },
    /^a\.ts:2: TypeError/,
  ],
  [
    'imports a missing file',
    { 'main.ts': `\nimport './lib/a.ts'`, 'lib/a.ts': `import './gone.ts'` },
    /^lib\/a\.ts:1: there is no file \.\/gone\.ts$/,
  ],
  [
    'leaves the extension out',
    { 'main.ts': `\nimport { a } from "./lib/a"\na`, 'lib/a.ts': `export const a = 1` },
    /^main\.ts:2: there is no file \.\/lib\/a: write '\.\/lib\/a\.ts', with the whole name/,
  ],
  [
    'names a TypeScript file as JavaScript',
    { 'main.ts': `import { a } from './a.js'\na`, 'a.ts': `export const a = 1` },
    /^main\.ts:1: there is no file \.\/a\.js: write '\.\/a\.ts'/,
  ],
  [
    'imports a folder',
    { 'main.ts': `import { a } from './lib'\na`, 'lib/index.ts': `export const a = 1` },
    /^main\.ts:1: there is no file \.\/lib: write '\.\/lib\/index\.ts'/,
  ],
  [
    'imports from outside',
    { 'main.mjs': `import '../x.ts'` },
    /^main\.mjs:1: .*outside of the scripts folder$/,
  ],
  [
    'imports a missing package',
    { 'main.mjs': `import 'vitest'` },
    /^main\.mjs:1: the package vitest is not there: looked in \/.*, and nowhere else$/,
  ],
  [
    'imports a missing name',
    { 'main.ts': `import { x } from './a.ts'\nx`, 'a.ts': 'export {}' },
    /^main\.ts:1: /,
  ],
  [
    'imports an unknown file',
    { 'main.mjs': `import './a.txt'`, 'a.txt': '' },
    /^a\.txt: the file is no ES module/,
  ],
  [
    'registers nothing',
    { 'main.ts': `const a: number = 1` },
    /^main\.ts: the script registers no handler$/,
  ],
  [
    'registers twice',
    { 'main.mjs': `${minimal}\n${minimal}` },
    /^main\.mjs:2: .*on_rpc: x has a handler already$/,
  ],
  [
    'registers no function',
    { 'main.mjs': `\nguildhall.on_join(1)` },
    /^main\.mjs:2: .*not a function$/,
  ],
  [
    'registers a reserved kind',
    { 'main.mjs': `guildhall.on_message(27, () => {})` },
    /^main\.mjs:1: .*kind must be/,
  ],
  [
    'registers a built-in method',
    { 'main.mjs': `guildhall.on_rpc('party.x', () => 1)` },
    /^main\.mjs:1: .*method must be/,
  ],
  ...['lag.start', 'lag.flush', 'lag.status'].map(
    (name): [string, { [path: string]: string }, RegExp] => [
      `registers ${name}, which the console calls without a script`,
      { 'main.mjs': `guildhall.on_rpc('${name}', () => 1)` },
      /^main\.mjs:1: .*method must be/,
    ],
  ),
  [
    'ends its process',
    { 'main.mjs': `process.exit(3)` },
    /the worker ended: it exited with code 3$/,
  ],
]

describe('loading', () => {
  it('[S-VIEW-1] shows what was registered, sorted', async () => {
    const { host, folder } = await startHarness({
      files: {
        'main.ts': `
          for (const name of ['b', 'a', 'é', 'Z']) guildhall.on_rpc(name, () => 1)
          for (const kind of [1000, 100, 1]) guildhall.on_message(kind, () => {})
          guildhall.on_tick(() => {})
          guildhall.on_join(() => {})`,
      },
    })
    expect(host.describe().script).toEqual({
      source: `${folder}/main.ts`,
      reloadable: false,
      deadline_ms: 1000,
      rpcs: ['Z', 'a', 'b', 'é'],
      message_kinds: [1, 100, 1000],
      hooks: ['on_join', 'on_tick'],
    })
  })

  it('[S-REL-1] names a script of one file by the hash of its bytes', async () => {
    const { host, rpc } = await startHarness({
      files: { 'main.ts': `guildhall.on_rpc('x', () => guildhall.revision_id)`, 'unused.ts': '' },
    })
    const expected = `sha256:${sha256(`guildhall.on_rpc('x', () => guildhall.revision_id)`)}`
    expect(host.describe().readiness).toMatchObject({ revision_id: expected, generation: 1 })
    expect(await rpc('x')).toBe(expected)
  })

  it('[S-REL-1] [S-SEL-5] names a script of several files by all that it loaded', async () => {
    const files = {
      'main.ts': `import { a } from './lib/a.ts'
        import data from './data.json' with { type: 'json' }
        import { p } from 'pack'
        guildhall.on_rpc('x', () => a + data.n + p)`,
      'lib/a.ts': `import { b } from '../b.js'\nexport const a: string = 'a' + b`,
      'b.js': `export const b = 'b'`,
      'data.json': '{"n":1}',
      'unused.ts': 'export {}',
      'node_modules/pack/package.json': '{"name":"pack","type":"module","main":"index.js"}',
      'node_modules/pack/index.js': `export const p = 'p'`,
    }
    const { host, rpc } = await startHarness({ files })
    const loaded = ['b.js', 'data.json', 'lib/a.ts', 'main.ts'] as const
    const lines = loaded.map((path) => `${sha256(files[path])} ${path}\n`).join('')
    expect(host.describe().readiness.revision_id).toBe(`sha256:${sha256(lines)}`)
    expect(await rpc('x')).toBe('ab1p')
  })

  it.each(refused)(
    '[S-SEL-3] refuses the start when the script %s',
    async (_name, files, message) => {
      const { host } = openHarness({ files })
      const error = await host.start().catch((error: unknown) => error)
      expect(error).toBeInstanceOf(ScriptLoadError)
      expect(error).toHaveProperty('message', expect.stringMatching(message))
      expect(host.readiness().state).toBe('unavailable')
    },
  )

  it('[S-SEL-7] skips a byte order mark, and takes no other encoding than UTF-8', async () => {
    const { host } = openHarness({ files: { 'main.js': `\ufeff${minimal}` } })
    await host.start()
    expect(host.describe().script?.rpcs).toEqual(['x'])
    const latin = openHarness({ files: {} })
    writeFileSync(join(latin.folder, 'main.js'), Buffer.from(`${minimal} // ä`, 'latin1'))
    await expect(latin.host.start()).rejects.toThrow('main.js: the file is not UTF-8')
  })

  it('[S-SEL-3] [S-WP-4] refuses a file that is too large to travel, before it reads it', async () => {
    const { host, folder } = openHarness({
      files: { 'main.ts': `import './large.ts'\n${minimal}`, 'large.ts': '' },
    })
    truncateSync(join(folder, 'large.ts'), 64_000_001)
    await expect(host.start()).rejects.toThrow('large.ts: the file has more than 64000000 bytes')
  })

  it.each([
    ['computes', 'for (;;) {}'],
    ['waits', 'await new Promise(() => {})'],
  ])('[S-LIM-5] refuses a top level that %s forever', async (_name, text) => {
    const { host } = openHarness({
      files: { 'main.ts': `${minimal}\n${text}` },
      config: { load_timeout_ms: 300 },
    })
    await expect(host.start()).rejects.toThrow(/^main.ts: the top level ran longer than 300 ms$/)
  })

  it('[S-SEL-3] starts without the script when hot reload is on', async () => {
    const { host, folder, lines } = openHarness({
      files: { 'main.ts': 'broken {' },
      config: { hot_reload: true },
    })
    await host.start()
    expect(host.describe()).toMatchObject({
      entrypoint: `${folder}/main.ts`,
      readiness: { state: 'unavailable', revision_id: null, generation: 0 },
      script: null,
    })
    expect(lines('error')).toHaveLength(1)
  })

  it('[S-WP-4] starts under node --watch, which has processes report what they load', async () => {
    const { host, rpc } = await startHarness({
      files: {
        'main.ts': `import { a } from './a.ts'
          guildhall.on_rpc('x', () => a)`,
        'a.ts': `export const a = 'a'`,
      },
      environment: { ...process.env, WATCH_REPORT_DEPENDENCIES: '1' },
    })
    expect(await rpc('x')).toBe('a')
    expect(host.describe().readiness.generation).toBe(1)
  })

  it('[S-LIM-6] takes 1,000 methods and no more', async () => {
    const loop = (count: number) =>
      `for (let n = 0; n < ${count}; n++) guildhall.on_rpc('m' + n, () => 1)`
    const { host } = await startHarness({ files: { 'main.ts': loop(1000) } })
    expect(host.describe().script?.rpcs).toHaveLength(1000)
    const more = openHarness({ files: { 'main.ts': loop(1001) } })
    await expect(more.host.start()).rejects.toThrow(/more than 1000 methods/)
  })

  it('[S-LIM-6] takes 1,000 message kinds and no more', async () => {
    const loop = (count: number) =>
      `for (let n = 0; n < ${count}; n++) guildhall.on_message(100 + n, () => {})`
    const { host } = await startHarness({ files: { 'main.ts': loop(1000) } })
    expect(host.describe().script?.message_kinds).toHaveLength(1000)
    const more = openHarness({ files: { 'main.ts': loop(1001) } })
    await expect(more.host.start()).rejects.toThrow(/more than 1000 kinds/)
  })
})

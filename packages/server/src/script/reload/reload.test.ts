import {
  appendFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startHarness } from '../host.fixture.ts'
import { shareReloading, startReloading, version } from './reload.fixture.ts'

type Files = { [path: string]: string }

describe('a change of the files', () => {
  it('[S-REL-1] [S-REL-2] [S-REL-3] [S-REL-4] is a candidate that takes over', async () => {
    const { rpc, save, seen, host, lines } = await startReloading({
      files: { 'main.js': version(1) },
    })
    const before = host.describe().readiness
    save('main.js', version(2))
    const activation = await seen(2)
    const { readiness } = host.describe()
    expect(await rpc('version')).toBe('2')
    expect(readiness).toMatchObject({ state: 'ready', generation: 2 })
    expect(readiness.revision_id).not.toBe(before.revision_id)
    expect(activation).toMatchObject({
      ...{ outcome: 'active', reason: 'reload', generation: 2, files: ['main.js'], problem: null },
      revision_id: readiness.revision_id,
    })
    expect(lines('info').at(-1)).toMatchObject({
      message: 'the script serves',
      fields: {
        ...{ reason: 'reload', generation: 2, files: ['main.js'] },
        ...{ revision_id: readiness.revision_id, duration_ms: expect.any(Number) },
      },
    })
    expect(host.metrics()).toMatchObject({
      script_reloads_total: 1,
      script_reload_rejections_total: 0,
    })
  })

  it('[S-REL-3] may be one of a file that is imported, or that is not there yet', async () => {
    const { rpc, save, remove, seen, activations } = await startReloading({
      files: {
        'main.js': `import { n } from './rules/n.ts'\nguildhall.on_rpc('version', () => String(n))`,
        'rules/n.ts': 'export const n = 1',
        'other.ts': '',
      },
    })
    save('rules/n.ts', 'export const n = 2')
    await seen(2)
    expect(await rpc('version')).toBe('2')
    save('other.ts', 'nothing imports it')
    remove('rules/n.ts')
    expect(await seen(3)).toMatchObject({
      ...{ outcome: 'rejected', generation: 2, files: ['rules/n.ts'] },
      problem: 'main.js:1: there is no file ./rules/n.ts',
    })
    save('rules/n.ts', 'export const n = 3')
    await seen(4)
    expect(await rpc('version')).toBe('3')
    expect(activations()).toHaveLength(4)
  })

  it('[S-REL-3] is none when a file is touched, copied onto itself or changed back', async () => {
    const { folder, save, seen, rpc, activations } = await startReloading({
      files: { 'main.js': version(1) },
    })
    utimesSync(join(folder, 'main.js'), new Date(), new Date())
    save('main.js', version(1))
    appendFileSync(join(folder, 'main.js'), ' ')
    writeFileSync(join(folder, 'main.js'), version(1))
    // What comes behind it shows that it was looked at.
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(activations()).toHaveLength(1)
    save('main.js', version(2))
    expect(await seen(2)).toMatchObject({ generation: 2 })
    expect(await rpc('version')).toBe('2')
  })

  it('[S-REL-3] is seen though its size and time are as before, as rsync may leave them', async () => {
    const { folder, seen, rpc } = await startReloading({ files: { 'main.js': version(1) } })
    const at = join(folder, 'main.js')
    const { atime, mtime } = statSync(at)
    writeFileSync(join(folder, '.main.js.Xq3f'), version(2))
    utimesSync(join(folder, '.main.js.Xq3f'), atime, mtime)
    renameSync(join(folder, '.main.js.Xq3f'), at)
    await seen(2)
    expect(await rpc('version')).toBe('2')
    // In place.
    writeFileSync(at, version(3))
    utimesSync(at, atime, mtime)
    await seen(3)
    expect(await rpc('version')).toBe('3')
  })

  it('[S-REL-3] is taken whole: what is written in parts is no candidate before it is', async () => {
    const { folder, save, seen, rpc, activations } = await startReloading({
      files: { 'main.js': version(1) },
    })
    const text = version(2, `guildhall.on_rpc('whole', () => 'whole')`)
    const at = join(folder, 'main.js')
    for (let n = 0; n <= text.length; n += 4) {
      writeFileSync(at, text.slice(0, n))
      await new Promise((resolve) => setTimeout(resolve, 8))
    }
    writeFileSync(at, text)
    await seen(2)
    expect(await rpc('whole')).toBe('whole')
    save('main.js', version(3))
    await seen(3)
    expect(activations().map(({ outcome }) => outcome)).toEqual(['active', 'active', 'active'])
  })

  it('[S-REL-3] [S-SEL-1] may be another entry file, of another language', async () => {
    const { rpc, save, remove, seen, host } = await startReloading({
      files: { 'main.js': version(1) },
    })
    save('main.ts', version(2))
    await seen(2)
    expect(host.describe()).toMatchObject({ selected_language: 'typescript' })
    save('main.js', version(3))
    remove('main.ts')
    await seen(3)
    expect([await rpc('version'), host.describe().selected_language]).toEqual(['3', 'javascript'])
  })

  it('[S-REL-3] [S-REL-1] is none in node_modules, which is no part of the revision', async () => {
    const { save, seen, rpc, host, activations } = await startReloading({
      files: {
        'main.js': `import { n } from 'rules'\nguildhall.on_rpc('version', () => String(n))`,
        'node_modules/rules/package.json': '{"name":"rules","type":"module","main":"index.js"}',
        'node_modules/rules/index.js': 'export const n = 1',
      },
    })
    const { revision_id } = host.describe().readiness
    expect(await rpc('version')).toBe('1')
    save('node_modules/rules/index.js', 'export const n = 2')
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(activations()).toHaveLength(1)
    expect(await host.reload()).toMatchObject({ outcome: 'active', revision_id, files: [] })
    await seen(2)
    expect(await rpc('version')).toBe('2')
  })

  it('[S-REL-10] names at most 20 files', async () => {
    const names = Array.from({ length: 25 }, (_, n) => `part${n}.ts`)
    const { save, seen } = await startReloading({
      files: {
        'main.js': version(1, names.map((name) => `import './${name}'`).join('\n')),
        ...Object.fromEntries(names.map((name) => [name, ''])),
      },
    })
    for (const name of names) save(name, '// changed')
    const { files } = await seen(2)
    expect([files.length, new Set(files).size]).toEqual([20, 20])
  })

  const lua = (n: number) => `guildhall.on_rpc("version", function() return "${n}" end)`
  const links: [what: string, link: string, files: Files, release: (n: number) => Files][] = [
    ['the entry file', 'main.js', {}, (n) => ({ 'main.js': version(n) })],
    ['the scripts folder', 'current', {}, (n) => ({ 'main.js': version(n) })],
    [
      'a folder in it',
      'current',
      { 'main.js': "import './current/rules.ts'" },
      (n) => ({ 'rules.ts': version(n) }),
    ],
    [
      'a folder in it that the node reads',
      'current',
      { 'main.lua': 'require("current.rules")' },
      (n) => ({ 'rules.lua': lua(n) }),
    ],
  ]
  it.each(links)(
    '[S-REL-3] [S-SEL-7] may be %s as a link that leads elsewhere now',
    async (what, link, files, release) => {
      const scriptsIn = what === 'the scripts folder' ? link : ''
      const { folder, rpc, save, seen } = await startReloading({ files, scriptsIn })
      const atEntry = link === 'main.js' ? 'main.js' : ''
      for (const n of [1, 2]) {
        for (const [path, text] of Object.entries(release(n))) save(`releases/${n}/${path}`, text)
      }
      const boot = Object.keys(files).length
      for (const n of [1, 2]) {
        // As deploys do: at no moment it leads nowhere.
        symlinkSync(join('releases', String(n), atEntry), join(folder, `${link}~`))
        renameSync(join(folder, `${link}~`), join(folder, link))
        await seen(boot + n)
        expect(await rpc('version')).toBe(String(n))
      }
    },
  )

  it('[S-REL-3] that comes while a candidate loads is one more, whatever that becomes', async () => {
    const { rpc, save, seen, until, host } = await startReloading({
      files: { 'main.js': version(1) },
    })
    save('main.js', version(2, 'await new Promise((resolve) => setTimeout(resolve, 400))'))
    await until(() => !host.isQuiet())
    save('main.js', version(3))
    await seen(2)
    expect(await rpc('version')).toBe('3')
    expect(host.describe().readiness.generation).toBe(2)
  })

  it('[S-REL-3] twenty times a second ends in the last of them, with every call answered', async () => {
    const { rpc, save, until, generation } = await startReloading({
      files: { 'main.js': version(0) },
    })
    const answers: unknown[] = []
    for (let n = 1; n <= 40; n += 1) {
      save('main.js', version(n))
      answers.push(await rpc('version'))
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    while (answers.at(-1) !== '40') answers.push(await rpc('version'))
    await until(() => generation() >= 2)
    expect(answers.filter((answer) => !/^\d+$/.test(String(answer)))).toEqual([])
    const numbers = answers.map(Number)
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
  })

  it('[S-REL-3] [S-GEN-1] with hot_reload off is not looked at', async () => {
    const { folder, rpc, host } = await startHarness({ files: { 'main.js': version(1) } })
    writeFileSync(join(folder, 'main.js'), version(2))
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect([await rpc('version'), host.failures().reloads.length]).toEqual(['1', 1])
  })
})

describe('a candidate', () => {
  const shared = shareReloading({
    files: { 'main.js': version(1) },
    config: { load_timeout_ms: 3_000 },
  })

  it.each([
    ['does not parse', 'broken {', /^main\.js:1: SyntaxError/],
    ['throws', `guildhall.on_rpc('x', () => 1)\nthrow new Error('no')`, 'main.js:2: Error: no'],
    ['registers nothing', '1', /registers no handler/],
    ['imports what is not there', `import './gone.ts'`, /there is no file \.\/gone\.ts/],
    ['never ends', 'await new Promise(() => {})', /ran longer than 3000 ms/],
    ['ends its process', 'process.exit(7)', /exited with code 7/],
  ])('[S-REL-4] [S-REL-10] that %s is rejected, and the old one serves', async (_, text, why) => {
    const { rpc, save, seen, activations, host, journal, lines } = shared()
    const journalled = () =>
      journal
        .page({ offset: 0, limit: 99 })
        .entries.filter(({ category, component }) => `${category} ${component}` === 'script script')
        .reduce((sum, { count }) => sum + count, 0)
    const rejections = () => host.metrics().script_reload_rejections_total
    const before = host.describe()
    const [tried, logged] = [activations().length, lines('error').length]
    const counted = [journalled(), rejections()]
    save('main.js', text)
    const rejection = await seen(tried + 1)
    expect(rejection).toMatchObject({ outcome: 'rejected', reason: 'reload', generation: 1 })
    expect(rejection.problem).toMatch(why)
    expect(host.describe()).toEqual(before)
    expect(await rpc('version')).toBe('1')
    expect(lines('error').slice(logged)).toMatchObject([
      {
        message: 'a script was rejected',
        fields: { reason: 'reload', problem: rejection.problem },
      },
    ])
    expect([journalled(), rejections()]).toEqual(counted.map((count) => count + 1))
  })

  it('[S-REL-4] [S-REL-10] is logged and journalled once for each content', async () => {
    const { save, seen, journal, lines } = await startReloading({
      files: { 'main.js': version(1) },
    })
    for (const [n, text] of ['broken {', 'broken [', 'broken {'].entries()) {
      save('main.js', text)
      await seen(n + 2)
    }
    expect(lines('error')).toHaveLength(2)
    const { entries } = journal.page({ offset: 0, limit: 10 })
    expect(entries.map(({ count }) => count)).toEqual([1, 1])
  })

  it('[S-REL-8] [S-HK-12] whose on_start fails is rejected, and nothing has changed', async () => {
    const { rpc, save, seen, host, log } = await startReloading({
      files: { 'main.js': version(1, `let n = 0; guildhall.on_rpc('count', () => String(++n))`) },
    })
    await rpc('count')
    save('main.js', version(2, `guildhall.on_start(() => { throw new Error('no state') })`))
    expect(await seen(2)).toMatchObject({
      ...{ outcome: 'rejected', generation: 1 },
      problem: 'main.js:2: its on_start failed: Error: no state',
    })
    const rejected = log.lines.find(({ level }) => level === 'error')
    expect(rejected?.fields).toMatchObject({ source: expect.stringMatching(/^> 2 \|/m) })
    expect([await rpc('version'), await rpc('count')]).toEqual(['1', '2'])
    expect(host.failures().items).toMatchObject([{ hook: 'on_start', place: 'main.js:2' }])
  })

  it('[S-REL-8] whose on_start takes too long is rejected', async () => {
    const { rpc, save, seen } = await startReloading({
      files: { 'main.js': version(1) },
      config: { call_timeout_ms: 300 },
    })
    save('main.js', version(2, 'guildhall.on_start(() => new Promise(() => {}))'))
    expect(await seen(2)).toMatchObject({
      outcome: 'rejected',
      problem: 'its on_start took too long',
    })
    expect(await rpc('version')).toBe('1')
  })

  it.each([
    ['in its on_start', 'guildhall.on_start(() => process.exit())'],
    [
      'while the old one hands over',
      'setTimeout(() => process.exit(), 50)\nguildhall.on_start(() => {})',
    ],
  ])('[S-RDY-1] row 10: whose worker ends %s leaves the old one, at once', async (_, text) => {
    const { rpc, save, seen, host, activations } = await startReloading({
      files: {
        'main.js': version(
          1,
          `guildhall.on_unload(() => new Promise((resolve) => setTimeout(resolve, 400)))`,
        ),
      },
      // Nobody may wait for that.
      config: { call_timeout_ms: 600_000 },
    })
    save('main.js', version(2, text))
    const answers: unknown[] = []
    while (activations().length < 2) {
      answers.push(await rpc('version'))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(await seen(2)).toMatchObject({
      ...{ outcome: 'rejected', generation: 1 },
      problem: 'its worker ended before it took over',
    })
    expect(new Set(answers)).toEqual(new Set(['1']))
    expect(host.describe()).toMatchObject({
      attached: true,
      readiness: { state: 'ready', generation: 1 },
    })
  })
})

describe('a signal', () => {
  it('[S-REL-9] loads what is there, also of equal content and without hot_reload', async () => {
    const { folder, rpc, host } = await startHarness({ files: { 'main.js': version(1) } })
    const first = await host.reload()
    expect(first).toMatchObject({ outcome: 'active', reason: 'signal', generation: 2, files: [] })
    writeFileSync(join(folder, 'main.js'), version(2))
    expect(await host.reload()).toMatchObject({ generation: 3, files: ['main.js'] })
    expect(await rpc('version')).toBe('2')
    writeFileSync(join(folder, 'main.js'), 'broken {')
    const rejected = { outcome: 'rejected', generation: 3 }
    expect(await host.reload()).toMatchObject({
      ...rejected,
      problem: expect.stringMatching(/Syn/),
    })
    rmSync(join(folder, 'main.js'))
    expect(await host.reload()).toMatchObject({ ...rejected, problem: 'there is no entry file' })
    expect(await rpc('version')).toBe('2')
  })

  it('[S-REL-9] that comes twice at once ends in one script that serves', async () => {
    const { rpc, host } = await startHarness({ files: { 'main.js': version(1) } })
    const both = await Promise.all([host.reload(), host.reload(), host.reload()])
    expect(both.map(({ outcome }) => outcome)).toEqual(['active', 'active', 'active'])
    expect(host.describe().readiness.generation).toBeLessThanOrEqual(3)
    expect(await rpc('version')).toBe('1')
  })

  it('[S-REL-9] of a node whose runtime is off is refused', async () => {
    const { host } = await startHarness({ files: {}, config: { enabled: false } })
    expect(await host.reload()).toMatchObject({
      outcome: 'rejected',
      problem: 'the runtime is off',
    })
  })
})

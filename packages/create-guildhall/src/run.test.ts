import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { run } from './run.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'guildhall-create-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

function create(argv: readonly string[], nodeVersion = '24.0.0') {
  const said: string[] = []
  const complaints: string[] = []
  const code = run(argv, {
    cwd,
    version: '1.2.3',
    nodeVersion,
    say: (text) => void said.push(text),
    complain: (text) => void complaints.push(text),
  })
  return { code, said: said.join('\n'), complaint: complaints.join('\n') }
}

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(cwd, folder, 'package.json'), 'utf8'))

it.each(['my-game', 'games/of/mine', '.', 'My Game'])('makes a project in %j', (folder) => {
  expect(create([folder])).toMatchObject({ code: 0, complaint: '' })
  const { name, dependencies } = manifestOf(folder)
  expect(name).toMatch(/^(my-game|mine|guildhall-create-\w+)$/i)
  expect(dependencies).toEqual({ '@guildhall/client': '1.2.3', guildhall: '1.2.3' })
  expect(readdirSync(cwd).filter((found) => found.startsWith('.my-game'))).toEqual([])
})

it.each(['typescript', 'lua', 'python'])('makes all that it speaks of, in %s', (language) => {
  expect(create(['game', '--language', language]).code).toBe(0)
  const text = (name: string) => readFileSync(join(cwd, 'game', name), 'utf8')
  const spoken = `${text('package.json')} ${text('README.md')}`
  const files = spoken.match(/\b(?:bots|game|src)\/[\w.]*/g) ?? []
  expect(files).toContain('bots/bot.ts')
  for (const file of files)
    expect([file, existsSync(join(cwd, 'game', file))]).toEqual([file, true])
  const imported = text('bots/bot.ts').match(/(?<=')\.\.\/[^']+/g) ?? []
  for (const file of imported) expect(existsSync(join(cwd, 'game/bots', file))).toBe(true)
})

it.each([
  ['typescript', []],
  ['lua', ['wasmoon']],
  ['python', ['pyodide']],
])('[S-SEL-4] the project of a game in %s has the engine of its script', (language, engines) => {
  expect(create(['game', '--language', language]).code).toBe(0)
  const { '@guildhall/client': _, guildhall, ...others } = manifestOf('game').dependencies
  expect(guildhall).toBe('1.2.3')
  const server = new URL('../../server/package.json', import.meta.url)
  const { optionalDependencies } = JSON.parse(readFileSync(server, 'utf8'))
  const wanted = engines.map((name) => [name, optionalDependencies[name]])
  expect(others).toEqual(Object.fromEntries(wanted))
})

it('makes one in the folder of a repository that was just begun', () => {
  mkdirSync(join(cwd, 'game/.git'), { recursive: true })
  expect(create(['game']).code).toBe(0)
  expect(readdirSync(join(cwd, 'game'))).toEqual(expect.arrayContaining(['.git', '.gitignore']))
})

it('replaces nothing: a folder with something in it stays as it is', () => {
  mkdirSync(join(cwd, 'game'))
  writeFileSync(join(cwd, 'game/mine.txt'), 'mine')
  const { code, complaint } = create(['game'])
  expect([code, complaint]).toEqual([1, expect.stringContaining('is not empty')])
  expect(readdirSync(join(cwd, 'game'))).toEqual(['mine.txt'])
})

it.each(['x!y', '.hidden', 'guildhall', 'vite', 'node_modules', 'ä', `${'n'.repeat(101)}`])(
  'refuses the name %j, and writes nothing',
  (name) => {
    expect(create([name])).toMatchObject({
      code: 1,
      complaint: expect.stringContaining('cannot be called'),
    })
    expect(existsSync(join(cwd, name))).toBe(false)
  },
)

it('says why a folder cannot be written, and leaves nothing behind', () => {
  writeFileSync(join(cwd, 'file'), '')
  expect(create(['file'])).toMatchObject({
    code: 1,
    complaint: expect.stringContaining('is no folder'),
  })
  const { code, complaint } = create(['file/below'])
  expect([code, complaint]).toEqual([1, expect.stringContaining('no folder')])
  expect(readdirSync(cwd)).toEqual(['file'])
})

it.each([
  [[], 'it needs the folder'],
  [['a', 'b'], 'one folder'],
  [['a', '--frobnicate'], '--frobnicate'],
  [['a', '--language', 'klingon'], 'no language "klingon"'],
])('ends %j with exit code 2', (argv, complaint) => {
  expect(create(argv)).toMatchObject({ code: 2, complaint: expect.stringContaining(complaint) })
  expect(readdirSync(cwd)).toEqual([])
})

it('installs from packed files from a folder', () => {
  expect(create(['a', '--packages', 'packed']).complaint).toContain('there is no folder')
  mkdirSync(join(cwd, 'packed'))
  expect(create(['a', '--packages', 'packed']).complaint).toContain('has no guildhall-1.2.3.tgz')
  for (const name of ['guildhall', 'guildhall-client', 'guildhall-contract']) {
    writeFileSync(join(cwd, `packed/${name}-1.2.3.tgz`), '')
  }
  expect(create(['a', '--packages', 'packed']).code).toBe(0)
  const { dependencies } = manifestOf('a')
  expect(Object.keys(dependencies).sort()).toEqual([
    '@guildhall/client',
    '@guildhall/contract',
    'guildhall',
  ])
  for (const file of Object.values<string>(dependencies)) {
    expect(file).toMatch(new RegExp(`^file:${cwd}/packed/.*\\.tgz$`))
  }
})

it('says what it needs to an older Node.js', () => {
  const { code, complaint } = create(['game'], '20.1.0')
  expect([code, complaint]).toEqual([1, 'it needs Node.js 24 or newer, and this is 20.1.0'])
})

it('prints its usage and its version', () => {
  expect(create(['--help']).said).toContain('npm create guildhall FOLDER')
  expect(create(['--version']).said).toBe('1.2.3')
})

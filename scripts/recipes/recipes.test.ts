import { execFile, execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { applyChange, type Block, readRecipes } from './recipes.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

/** A copy of the sources, whose packages are its own. */
function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'guildhall-recipes-'))
  onTestFinished(() => rmSync(copy, { recursive: true }))
  const kinds = ['*.ts', '*.tsx', '*.json', '*.md', '.gitignore']
  const list = ['ls-files', '-co', '--exclude-standard', '--', ...kinds]
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).trim().split('\n')
  for (const folder of new Set(files.map((file) => dirname(file)))) {
    mkdirSync(join(copy, folder), { recursive: true })
  }
  for (const file of files) copyFileSync(join(root, file), join(copy, file))
  const modules = join(copy, 'node_modules')
  mkdirSync(join(modules, '@guildhall'), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name === '@guildhall' || name === '.cache') continue
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  for (const name of readdirSync(join(root, 'packages'))) {
    symlinkSync(join(copy, 'packages', name), join(modules, '@guildhall', name))
  }
  return copy
}

function apply(copy: string, block: Block): void {
  const path = join(copy, block.path)
  if (block.isChange) writeFileSync(path, applyChange(readFileSync(path, 'utf8'), block))
  else {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, block.text)
  }
}

/** Compiles these files and what they import; what the compiler says. */
async function compile(copy: string, project: string, files: readonly string[]): Promise<string> {
  const config = join(copy, project, 'tsconfig.recipes.json')
  const options = { incremental: false, noEmit: true }
  const text = { extends: './tsconfig.json', compilerOptions: options, include: [], files }
  writeFileSync(config, JSON.stringify(text))
  const tsc = join(root, 'node_modules/.bin/tsc')
  const ended = run(tsc, ['--checkers', '1', '-p', config], { cwd: copy, maxBuffer: 1 << 24 })
  return ended.then(
    ({ stdout }) => stdout,
    ({ stdout }) => stdout,
  )
}

const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
const blocks = readRecipes(page)

function filesOf(recipe: string): string[] {
  return [...new Set(blocks.filter((block) => block.recipe === recipe).map(({ path }) => path))]
}

it('the recipes and the scaffold of a feature compile, all together in one copy', async () => {
  expect(new Set(blocks.map(({ recipe }) => recipe))).toEqual(
    new Set([
      'A route',
      'A script function',
      'A table',
      'A key',
      'A section of the dashboard',
      'A check',
      'A transport',
      'A language',
    ]),
  )
  // What a second transport and a further language change beside their own folders.
  expect(filesOf('A transport')).toEqual(['packages/server/src/node/play/play.ts'])
  expect(filesOf('A language')).toEqual(['packages/server/src/script/process/languages.ts'])
  const copy = copyTree()
  for (const block of blocks) apply(copy, block)
  const scaffold = join(copy, 'scripts/new-feature.ts')
  const { stdout } = await run(process.execPath, [scaffold, 'daily-gifts'], { cwd: copy })
  const written = stdout.replaceAll('daily-gifts', 'mail').replace(/\d{4}-mail/, 'NNNN-mail')
  const listed = /^`{3}text\n([^`]*)`{3}/m.exec(page)?.[1]
  expect(written.slice(0, written.indexOf('next: '))).toBe(listed)
  const again = run(process.execPath, [scaffold, 'daily-gifts'], { cwd: copy })
  await expect(again).rejects.toThrow('is there already')
  const feature = 'packages/server/src/features/daily-gifts/daily-gifts.feature.ts'
  const node = await compile(copy, '.', [
    'packages/server/src/main.ts',
    'scripts/check.ts',
    feature,
    'packages/contract/src/pins.test.ts',
  ])
  expect(node).toBe('')
  const dashboard = await compile(copy, 'packages/dashboard', ['src/page/routes.tsx'])
  expect(dashboard).toBe('')
}, 300_000)

it('a change whose lines are not there, or twice, is refused', () => {
  const change = (text: string): Block => ({ recipe: '', path: 'a.ts', isChange: true, text })
  expect(applyChange('a\nb\nc\n', change(' a\n+x\n b\n'))).toBe('a\nx\nb\nc\n')
  expect(applyChange('a\nb\n', change('-b\n+y\n'))).toBe('a\ny\n')
  expect(() => applyChange('a\nb\n', change(' d\n+x\n'))).toThrow('a.ts has 0 times:\nd')
  expect(() => applyChange('a\nb\na\n', change(' a\n+x\n'))).toThrow('a.ts has 2 times')
})

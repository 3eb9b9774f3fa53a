import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const guide = readFileSync(join(root, 'docs/scripting.md'), 'utf8')
const examples = [...guide.matchAll(/^```ts\n(.*?)^```/gms)].map(([, text = '']) => text)

const options = {
  strict: true,
  noEmit: true,
  target: 'es2024',
  lib: ['es2024', 'dom'],
  module: 'preserve',
  typeRoots: [join(root, 'node_modules/@types')],
  types: ['node'],
  paths: {
    '@guildhall/contract/*': [join(root, 'packages/contract/src/*.ts')],
    zod: [join(root, 'node_modules/zod')],
  },
}

const wrong = "guildhall.on_rpc('x', async () => (await guildhall.wallet.get('ana')).gold.length)"
let faults: string[] = []

beforeAll(async () => {
  faults = await faultsOf([...examples, wrong])
}, 120_000)

/** What the compiler says of scripts, each in a file of its own. */
async function faultsOf(scripts: readonly string[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-guide-'))
  const types = `/// <reference path="${join(root, 'packages/server/guildhall.d.ts')}" />\n`
  for (const [at, text] of scripts.entries()) {
    const script = text.replace(/^\/\/\/ <reference.*\n/, '')
    writeFileSync(join(folder, nameOf(at)), `${types}export {}\n${script}`)
  }
  const files = scripts.map((_, at) => nameOf(at))
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const args = [compiler, '--checkers', '1', '--pretty', 'false', '-p', folder]
  const said = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: folder }, (_error, stdout) => resolve(stdout))
  })
  rmSync(folder, { recursive: true })
  return said.split('\n').filter((line) => line !== '')
}

const nameOf = (at: number) => `example-${at}.ts`
const ofWrong = (line: string) => line.startsWith(`${nameOf(examples.length)}(`)

it('[S-SEL-6] the examples of the guide are right by the types of `guildhall`', () => {
  expect(examples.length).toBeGreaterThan(5)
  expect(faults.filter((line) => !ofWrong(line))).toEqual([])
})

it('[S-SEL-6] an example that is wrong is found', () => {
  const said = "Property 'length' does not exist on type 'bigint'"
  expect(faults.filter(ofWrong)).toEqual([expect.stringContaining(said)])
})

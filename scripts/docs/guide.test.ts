import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

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

/** What the compiler says of scripts, each in a file of its own. */
async function faultsOf(scripts: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-guide-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const types = `/// <reference path="${join(root, 'packages/server/guildhall.d.ts')}" />\n`
  for (const [at, text] of scripts.entries()) {
    const script = text.replace(/^\/\/\/ <reference.*\n/, '')
    writeFileSync(join(folder, `example-${at}.ts`), `${types}export {}\n${script}`)
  }
  const files = scripts.map((_, at) => `example-${at}.ts`)
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  return new Promise((resolve) => {
    const args = [compiler, '--checkers', '1', '-p', folder]
    execFile(process.execPath, args, (_error, stdout) => resolve(stdout))
  })
}

it('[S-SEL-6] the examples of the guide are right by the types of `guildhall`', async () => {
  expect(examples.length).toBeGreaterThan(5)
  expect(await faultsOf(examples)).toBe('')
})

it('[S-SEL-6] an example that is wrong is found', async () => {
  const wrong = "guildhall.on_rpc('x', async () => (await guildhall.wallet.get('ana')).gold.length)"
  expect(await faultsOf([wrong])).toContain("Property 'length' does not exist on type 'bigint'")
})

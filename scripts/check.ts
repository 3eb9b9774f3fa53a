import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { checkBans } from './checks/bans.ts'
import { checkConfinement } from './checks/confinement.ts'
import { checkImports } from './checks/imports.ts'
import { checkLengths } from './checks/lengths.ts'
import { checkPins } from './checks/pins.ts'
import { checkRules } from './checks/rules.ts'
import { codeSources, type Problem, readSources } from './checks/sources.ts'
import { checkWords } from './checks/words.ts'

/**
 * `npm run check`: everything that can be said about the tree without running it. With names, e.g.
 * `npm run check -- types lengths`, only those checks.
 */

type Outcome = { name: string; ok: boolean; output: string; ms: number }

const root = join(import.meta.dirname, '..')

/** What several share they check several times: four take twice the CPU. */
const oneChecker = ['--checkers', '1'] as const

const tools: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ['types', 'tsc', ...oneChecker, '-p', '.'],
  ['contract types', 'tsc', ...oneChecker, '-p', 'packages/contract'],
  ['dashboard types', 'tsc', ...oneChecker, '-p', 'packages/dashboard'],
  ['arena types', 'tsc', ...oneChecker, '-p', 'examples/arena/page'],
  ['format and lint', 'biome', 'ci', '--error-on-warnings', '--colors=off', '.'],
  ['unused code', 'knip', '--no-progress'],
]

const wanted = new Set(process.argv.slice(2))
const isWanted = (name: string) => wanted.size === 0 || wanted.has(name)

const outcomes = await Promise.all([
  ...tools.filter(([name]) => isWanted(name)).map((tool) => runTool(...tool)),
  ...runOwnChecks(),
])
for (const { name, ok, output, ms } of outcomes) {
  write(`${ok ? 'ok  ' : 'FAIL'}  ${name.padEnd(16)} ${(ms / 1000).toFixed(1)} s`)
  if (!ok) write(output.trimEnd().replace(/^/gm, '      '))
}
const failed = outcomes.filter(({ ok }) => !ok).length
const isKnown = outcomes.length >= wanted.size
if (!isKnown) write(`check: no check of one of these names: ${[...wanted].join(', ')}`)
else write(failed === 0 ? 'check: all good' : `check: ${failed} of ${outcomes.length} failed`)
process.exitCode = failed === 0 && isKnown ? 0 : 1

function runTool(name: string, command: string, ...args: string[]): Promise<Outcome> {
  const startMs = performance.now()
  return new Promise((resolve) => {
    const child = spawn(join(root, 'node_modules/.bin', command), args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
    const end = (ok: boolean, note = '') => {
      const output = Buffer.concat(chunks).toString() + note
      resolve({ name, ok, output, ms: performance.now() - startMs })
    }
    child.on('error', (error) => end(false, error.message))
    child.on('close', (code) => end(code === 0))
  })
}

function runOwnChecks(): Outcome[] {
  const files = readSources(root)
  const code = codeSources(files)
  const registry = process.env.npm_config_registry
  const registryHost = registry ? new URL(registry).host : undefined
  const checks: readonly (readonly [name: string, check: () => Problem[]])[] = [
    ['imports', () => checkImports(code)],
    ['confinement', () => checkConfinement(code)],
    ['lengths', () => checkLengths(code)],
    ['bans', () => checkBans(code)],
    ['words', () => checkWords(files, registryHost)],
    ['pins', () => checkPins(files)],
    ['rules', () => checkRules(files)],
  ]
  return checks.filter(([name]) => isWanted(name)).map(([name, check]) => runOwn(name, check))
}

function runOwn(name: string, check: () => Problem[]): Outcome {
  const startMs = performance.now()
  const problems = check()
  const output = problems.map(({ path, line, text }) => `${path}:${line}: ${text}`).join('\n')
  return { name, ok: problems.length === 0, output, ms: performance.now() - startMs }
}

function write(text: string): void {
  process.stdout.write(`${text}\n`)
}

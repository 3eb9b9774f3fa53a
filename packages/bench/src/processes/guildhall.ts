import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Bench } from '../benchmark.ts'
import { type Child, startChild } from './child.ts'
import { pinned } from './cores.ts'

export type GuildhallOptions = {
  /** Configuration that differs from the defaults, e.g. `{ 'runtime.tick_hz': 20 }`. */
  keys?: Readonly<Record<string, string | number | boolean>>
  /** Arguments for Node.js itself. */
  nodeArgs?: readonly string[]
  env?: Readonly<Record<string, string>>
  on?: 'server' | 'both'
  /** The folder of the checkout whose product it is; the one that is measured if not given. */
  checkout?: string | undefined
  /** The program of a release, in place of the product of a checkout. */
  program?: string | undefined
}

/** What a node needs of a run. */
export type NodePlace = Pick<Bench, 'cores' | 'folder' | 'checkout'>

/** The folder of this checkout. */
export const ownCheckout = fileURLToPath(new URL('../../../../', import.meta.url))

/** The arguments of the `start` script: the limits of Node.js that the product runs under. */
function startArguments(checkout: string): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'))
  const [command, ...args] = String(scripts.start).split(' ')
  const main = args.pop()
  if (command !== 'node' || main === undefined) throw new Error('`start` must be node, and a file')
  return [...args, join(checkout, main)]
}

/** Starts the product as its operators do, with the limits on sign-ins out of the way. */
export function startGuildhall(bench: NodePlace, options: GuildhallOptions = {}): Promise<Child> {
  const { keys = {}, nodeArgs = [], env = {}, on = 'server', program } = options
  const { checkout = bench.checkout } = options
  const own = program === undefined ? [...nodeArgs, ...startArguments(checkout)] : []
  return startChild({
    program,
    args: [...own, 'serve'],
    cwd: bench.folder,
    env: { ...environment({ ...unlimited, ...keys }), ...env },
    cores: bench.cores,
    on,
  })
}

/** Runs a command of the product to its end; answers how long it took, in milliseconds. */
export async function runCommand(
  bench: Bench,
  args: readonly string[],
  keys: NonNullable<GuildhallOptions['keys']>,
): Promise<number> {
  const all: [string, ...string[]] = [process.execPath, ...startArguments(bench.checkout), ...args]
  const [command, ...rest] = pinned(all, bench.cores && Object.values(bench.cores))
  const startMs = performance.now()
  const env = { PATH: process.env.PATH, ...environment(keys) }
  await promisify(execFile)(command, rest, { cwd: bench.folder, env })
  return performance.now() - startMs
}

const unlimited = {
  'http.bind': '127.0.0.1:0',
  'authentication.limits.source.limit': 1_000_000,
  'authentication.limits.email.limit': 1_000_000,
  'authentication.limits.registration_source.limit': 1_000_000,
}

function environment(keys: NonNullable<GuildhallOptions['keys']>): Record<string, string> {
  const variables = Object.entries(keys).map(([key, value]) => {
    return [`GUILDHALL_${key.replaceAll('.', '__').toUpperCase()}`, String(value)]
  })
  return Object.fromEntries(variables)
}

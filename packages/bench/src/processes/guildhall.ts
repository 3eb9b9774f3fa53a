import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Bench } from '../benchmark.ts'
import { type Child, startChild } from './child.ts'

export type GuildhallOptions = {
  /** Configuration that differs from the defaults, e.g. `{ 'runtime.tick_hz': 20 }`. */
  keys?: Readonly<Record<string, string | number | boolean>>
  /** Arguments for Node.js itself. */
  nodeArgs?: readonly string[]
  env?: Readonly<Record<string, string>>
  on?: 'server' | 'both'
}

/** The arguments of the `start` script: the limits of Node.js that the product runs under. */
const startArguments: readonly string[] = (() => {
  const root = new URL('../../../../', import.meta.url)
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  const [command, ...args] = String(scripts.start).split(' ')
  const main = args.pop()
  if (command !== 'node' || main === undefined) throw new Error('`start` must be node, and a file')
  return [...args, fileURLToPath(new URL(main, root))]
})()

/** Starts the product as its operators do, with the limits on sign-ins out of the way. */
export function startGuildhall(bench: Bench, options: GuildhallOptions = {}): Promise<Child> {
  const { keys = {}, nodeArgs = [], env = {}, on = 'server' } = options
  return startChild({
    args: [...nodeArgs, ...startArguments, 'serve'],
    cwd: bench.folder,
    env: { ...environment({ ...unlimited, ...keys }), ...env },
    cores: bench.cores,
    on,
  })
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

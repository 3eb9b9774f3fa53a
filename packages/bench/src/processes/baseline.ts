import { fileURLToPath } from 'node:url'
import type { Bench } from '../benchmark.ts'
import { type Child, startChild } from './child.ts'

/** Starts a program of the folder `baselines` on the core on which the product is measured, too. */
export function startBaseline(
  bench: Bench,
  name: string,
  args: readonly string[] = [],
): Promise<Child> {
  const program = fileURLToPath(new URL(`../baselines/${name}.ts`, import.meta.url))
  return startChild({ args: [program, ...args], cwd: bench.folder, cores: bench.cores })
}

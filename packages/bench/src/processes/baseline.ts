import { fileURLToPath } from 'node:url'
import type { Bench } from '../benchmark.ts'
import { type Child, startChild } from './child.ts'

/** Starts a program on the core on which the product is measured, too. */
export function startBaseline(
  bench: Bench,
  program: URL,
  args: readonly string[] = [],
): Promise<Child> {
  const path = fileURLToPath(program)
  return startChild({ args: [path, ...args], cwd: bench.folder, cores: bench.cores })
}

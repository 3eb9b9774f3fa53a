import { fileURLToPath } from 'node:url'
import type { Bench } from '../benchmark.ts'
import { type Child, type ChildOptions, startChild } from './child.ts'

/** Starts a program on the cores on which the product is measured, too. */
export function startBaseline(
  bench: Bench,
  program: URL,
  { args = [], on }: Partial<Pick<ChildOptions, 'args' | 'on'>> = {},
): Promise<Child> {
  const path = fileURLToPath(program)
  return startChild({ args: [path, ...args], cwd: bench.folder, cores: bench.cores, on })
}

import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** One core for the server under test and another one for the load. */
export type Cores = { server: number; load: number }

/** Part of util-linux, and so of nearly every Linux. */
const taskset = 'taskset'

/**
 * Pins this process, which makes the load, to a core of its own; what it starts may then be pinned
 * to the other one. Undefined where there is one core only, or no `taskset`.
 */
export function claimCores(): Cores | undefined {
  if (availableParallelism() < 2) return undefined
  const cores = { server: 0, load: 1 }
  const args = ['--all-tasks', '--cpu-list', '--pid', String(cores.load), String(process.pid)]
  return spawnSync(taskset, args, { stdio: 'ignore' }).status === 0 ? cores : undefined
}

/** The command line that runs `command` on the given cores. */
export function pinned(
  command: readonly [string, ...string[]],
  cores: readonly number[] | undefined,
): readonly [string, ...string[]] {
  return cores === undefined ? command : [taskset, '--cpu-list', cores.join(','), ...command]
}

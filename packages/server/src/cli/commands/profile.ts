import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { LoadedConfig } from '../../config/load.ts'
import { printable } from '../../config/problem.ts'
import { askNode } from '../../kernel/control/ask-node.ts'
import { reasonOf } from '../../kernel/errors/reason.ts'
import type { Invocation } from '../arguments.ts'
import { controlPathsOf } from '../control.ts'
import { exitCodes, printJson, printLines, refuse, type Terminal } from '../terminal.ts'

const secondsDefault = 10
const secondsMax = 600

/** Writes where the script of the configuration's node spends its CPU, as a .cpuprofile. */
export async function profile(
  { config }: LoadedConfig,
  { json, values }: Invocation,
  terminal: Terminal,
): Promise<number> {
  const seconds = secondsOf(values.get('--seconds'))
  if (seconds === undefined) return refuse(terminal, `--seconds takes a number of 1..${secondsMax}`)
  const out = values.get('--out') ?? 'guildhall.cpuprofile'
  if (!json) printLines(terminal.stderr, [`the script is profiled for ${seconds} s`])
  // Of several processes the first stands for all.
  const [path = ''] = controlPathsOf(config).values()
  const answer = await askNode(path, 'profile', { seconds })
  const problem =
    'problem' in answer ? answer.problem : await write(terminal.cwd, out, answer.value)
  if (problem !== undefined) {
    if (!json) return refuse(terminal, problem, exitCodes.failure)
    printJson(terminal.stdout, { ok: false, problems: [problem] })
    return exitCodes.failure
  }
  if (json) printJson(terminal.stdout, { ok: true, file: out })
  else printLines(terminal.stdout, [`written to ${printable(out)}`])
  return exitCodes.ok
}

function secondsOf(given: string | undefined): number | undefined {
  if (given === undefined) return secondsDefault
  const seconds = /^\d{1,3}$/.test(given) ? Number(given) : 0
  return seconds >= 1 && seconds <= secondsMax ? seconds : undefined
}

/** Why it could not be written. */
async function write(cwd: string, out: string, value: unknown): Promise<string | undefined> {
  if (typeof value !== 'string') return 'the node is of another version'
  try {
    await writeFile(resolve(cwd, out), value)
    return undefined
  } catch (error) {
    return reasonOf(error)
  }
}

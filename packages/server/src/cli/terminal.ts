import type { Readable } from 'node:stream'
import { printable } from '../config/problem.ts'

/** What a command reads from and writes to: those of the process, or those of a test. */
export type Terminal = {
  readonly stdin: TerminalInput
  /** Results. */
  readonly stdout: TextOutput
  /** Logs, prompts and problems. */
  readonly stderr: TextOutput
  /** The working directory. */
  readonly cwd: string
}

/** `setRawMode` exists when a person types. */
export type TerminalInput = Readable & {
  isTTY?: boolean
  setRawMode?(raw: boolean): unknown
}

export type TextOutput = { write(text: string): unknown }

/** What every command ends with, when it ends with anything but 0. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  configuration: 2,
  schemaNotUsable: 3,
  inUse: 4,
} as const

export function printLines(output: TextOutput, lines: readonly string[]): void {
  for (const line of lines) output.write(`${line}\n`)
}

export function printJson(output: TextOutput, value: unknown): void {
  output.write(`${JSON.stringify(value)}\n`)
}

/** Says why the command ends without having done anything; returns its exit code. */
export function refuse(
  { stderr }: Pick<Terminal, 'stderr'>,
  reason: string,
  code: number = exitCodes.configuration,
): number {
  printLines(stderr, [`guildhall: ${printable(reason)}`])
  return code
}

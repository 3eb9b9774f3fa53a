import { execFile } from 'node:child_process'
import { builtEnvironment, builtMain } from './node-process.ts'

export type Ended = { code: number; stdout: string; stderr: string }

/** Runs `guildhall test-script` as the author of a game does. */
export function runScriptTests(
  args: readonly string[],
  { cwd }: { cwd?: string } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const line = [builtMain, 'test-script', ...args]
    const options = { cwd, env: builtEnvironment, timeout: 120_000 }
    execFile(process.execPath, line, options, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : -1
      resolve({ code, stdout, stderr })
    })
  })
}

import { execFile } from 'node:child_process'
import { builtMain } from './node-process.ts'

export type Ended = { code: number; stdout: string; stderr: string }

/** Runs `guildhall test-script` as the author of a game does. */
export function runScriptTests(
  args: readonly string[],
  { cwd }: { cwd?: string } = {},
): Promise<Ended> {
  const env = { PATH: process.env.PATH }
  return new Promise((resolve) => {
    const line = [builtMain, 'test-script', ...args]
    execFile(process.execPath, line, { cwd, env, timeout: 120_000 }, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : -1
      resolve({ code, stdout, stderr })
    })
  })
}

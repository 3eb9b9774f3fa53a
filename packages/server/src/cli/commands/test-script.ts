import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { LoadedConfig } from '../../config/load.ts'
import { printable } from '../../config/problem.ts'
import type { Invocation } from '../arguments.ts'
import { exitCodes, printJson, printLines, type Terminal } from '../terminal.ts'

/**
 * Runs the tests of a game's folder: the one that is named, or the one of the configuration. Exits
 * with 0 when all pass, with 1 when one fails or there is none.
 */
export async function testScript(
  { config }: LoadedConfig,
  { argument, configPath, settings, json }: Invocation,
  { cwd, stdout, stderr }: Terminal,
): Promise<number> {
  const folder = argument ?? config.runtime.scripts_dir
  const gameDir = resolve(cwd, folder)
  const refused = (problem: string, code: number) => {
    if (json) printJson(stdout, { ok: false, problems: [problem] })
    else printLines(stderr, [`guildhall: ${problem}`])
    return code
  }
  if (!existsSync(gameDir) || !statSync(gameDir).isDirectory()) {
    return refused(`there is no folder ${printable(folder)}`, exitCodes.configuration)
  }
  const { findTests, runTests } = await import('../../script-test/test-run.ts')
  const files = findTests(gameDir)
  if (files.length === 0) {
    return refused(`no *.test.ts or *.test.js in ${printable(folder)}`, exitCodes.failure)
  }
  const context = { cwd, configPath, flags: settings, gameDir }
  const report = await runTests(context, files, json ? undefined : stdout)
  const ok = report.failed === 0
  if (json) printJson(stdout, { ok, ...report })
  return ok ? exitCodes.ok : exitCodes.failure
}

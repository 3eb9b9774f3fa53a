import { resolve } from 'node:path'
import type { LoadedConfig } from '../../config/load.ts'
import { printable } from '../../config/problem.ts'
import { reasonOf } from '../../kernel/errors/reason.ts'
import type { Invocation } from '../arguments.ts'
import { backendOf, isAbsentFile } from '../database-visit.ts'
import { exitCodes, printJson, printLines, refuse, type Terminal } from '../terminal.ts'

/** Copies the embedded database, also while a node serves it. */
export async function backUp(
  { config }: LoadedConfig,
  { json, switches, values }: Invocation,
  terminal: Terminal,
): Promise<number> {
  const to = values.get('--to')
  const reason = whyNoFile(config.database.url) ?? (to ? undefined : '--to FILE is missing')
  if (reason !== undefined || to === undefined) return refuse(terminal, String(reason))
  if (isAbsentFile(config.database.url, terminal.cwd)) {
    return refuse(terminal, 'the database file does not exist', exitCodes.failure)
  }
  const { backUpFile } = await import('../../database/sqlite/file/backup.ts')
  const target = resolve(terminal.cwd, to)
  try {
    const from = filePath(config.database.url, terminal.cwd)
    await backUpFile({ from, to: target, force: switches.has('--force') })
  } catch (error) {
    return refuse(terminal, reasonOf(error), exitCodes.failure)
  }
  if (json) printJson(terminal.stdout, { ok: true, file: target })
  else printLines(terminal.stdout, [`backed up to ${printable(target)}`])
  return exitCodes.ok
}

/** Why there is no file to back up or to restore; undefined on the embedded backend. */
export function whyNoFile(url: string | undefined): string | undefined {
  switch (backendOf(url)) {
    case 'in-memory':
      return 'nothing to back up: the in-memory backend ends with its process'
    case 'postgres':
      return 'PostgreSQL is backed up with pg_dump and restored with pg_restore'
    default:
      return undefined
  }
}

export function filePath(url: string | undefined, cwd: string): string {
  return resolve(cwd, (url ?? '').slice('sqlite:'.length))
}

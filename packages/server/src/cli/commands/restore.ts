import { resolve } from 'node:path'
import type { LoadedConfig } from '../../config/load.ts'
import { printable } from '../../config/problem.ts'
import { reasonOf } from '../../kernel/errors/reason.ts'
import type { Invocation } from '../arguments.ts'
import { exitCodes, printJson, printLines, refuse, type Terminal } from '../terminal.ts'
import { filePath, whyNoFile } from './backup.ts'

/** Puts a backup in the place of the embedded database, which no node may serve. */
export async function restore(
  { config }: LoadedConfig,
  { json, switches, values }: Invocation,
  terminal: Terminal,
): Promise<number> {
  const from = values.get('--from')
  const reason = whyNoFile(config.database.url) ?? (from ? undefined : '--from FILE is missing')
  if (reason !== undefined || from === undefined) return refuse(terminal, String(reason))
  const [{ restoreFile }, { DatabaseInUse }, { migrations }, { createSystemClock }] =
    await Promise.all([
      import('../../database/sqlite/file/restore.ts'),
      import('../../database/sqlite/file/file-lock.ts'),
      import('../../database/migrations/index.ts'),
      import('../../kernel/clock.ts'),
    ])
  try {
    const restored = restoreFile({
      from: resolve(terminal.cwd, from),
      to: filePath(config.database.url, terminal.cwd),
      nowUnixMs: createSystemClock().nowUnixMs(),
      schemaVersion: migrations.length,
      keepSessions: switches.has('--keep-sessions'),
    })
    const { path, schema_version, sessions_ended, replaced } = restored
    if (json) printJson(terminal.stdout, { ok: true, ...restored })
    else {
      printLines(terminal.stdout, [
        `restored ${printable(path)}, schema version ${schema_version}`,
        `ended ${sessions_ended} player sessions`,
        ...(replaced === null ? [] : [`the old file is ${printable(replaced)}`]),
        ...unknowable,
      ])
    }
    return exitCodes.ok
  } catch (error) {
    const code = error instanceof DatabaseInUse ? exitCodes.inUse : exitCodes.failure
    return refuse(terminal, reasonOf(error), code)
  }
}

const unknowable = [
  'A backup does not know what came after it: API keys that were revoked since are good again,',
  'bans that were made since are gone, and ids that were issued since may be issued again.',
]

import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { LoadedConfig } from '../config/load.ts'
import { printable } from '../config/problem.ts'
import type { Backend } from '../database/database.ts'
import type { OpenedDatabase } from '../database/migrations/schema-access.ts'
import type { Clock } from '../kernel/clock.ts'
import { reasonOf } from '../kernel/errors/reason.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log/log.ts'
import { exitCodes, printLines, type Terminal } from './terminal.ts'

/** An open database and what working with it takes. */
export type Visit = { db: OpenedDatabase; clock: Clock; log: Log; ids: Ids; bootId: string }

/** The backend that `database.url` selects. */
export function backendOf(url: string | undefined): Backend {
  if (url === undefined || url === 'memory:') return 'in-memory'
  return url.startsWith('sqlite:') ? 'sqlite' : 'postgres'
}

/** Whether the URL names an embedded file that is not there: opening it would create it. */
export function isAbsentFile(url: string | undefined, cwd: string): boolean {
  if (url === undefined || !url.startsWith('sqlite:')) return false
  return !existsSync(resolve(cwd, url.slice('sqlite:'.length)))
}

/**
 * Why no node could write the URL's embedded file, or the files that lie beside it while it is
 * served; undefined when one could, and on the other backends.
 */
export function whyNotWritable(url: string | undefined, cwd: string): string | undefined {
  if (url === undefined || !url.startsWith('sqlite:')) return undefined
  const path = resolve(cwd, url.slice('sqlite:'.length))
  if (!existsSync(dirname(path))) return 'the folder of the database file does not exist'
  try {
    accessSync(`${dirname(path)}/.`, constants.W_OK)
    if (existsSync(path)) accessSync(path, constants.W_OK)
    return undefined
  } catch (error) {
    return `the database file cannot be written: ${reasonOf(error)}`
  }
}

/** Why there is nothing for a command that only reads; undefined when there may be. */
export function whyNotReadable(url: string | undefined, cwd: string): string | undefined {
  if (backendOf(url) === 'in-memory') {
    return 'there is nothing to look at: the in-memory backend ends with its process'
  }
  return isAbsentFile(url, cwd) ? 'the database file does not exist' : undefined
}

type VisitOptions = {
  terminal: Terminal
  /** `read` looks into an embedded file beside the node that serves it. */
  access: 'own' | 'read'
  /** The exit code when the database cannot be used. Default: 1, or 3 for its schema. */
  refused?: number
}

/** Opens the configured database, hands it to `body` and closes it; failures become exit codes. */
export async function visitDatabase(
  { config }: LoadedConfig,
  { terminal, access, refused }: VisitOptions,
  body: (visit: Visit) => Promise<number>,
): Promise<number> {
  const [{ openDatabase }, { createSystemClock }, { createIds, newBootId }, { createLog }] =
    await Promise.all([
      import('../database/open.ts'),
      import('../kernel/clock.ts'),
      import('../kernel/ids.ts'),
      import('../kernel/log/log-writer.ts'),
    ])
  const clock = createSystemClock()
  const bootId = newBootId()
  const nodeId = config.server.node_id
  const ids = createIds({ clock, nodeId, bootId })
  const writer = createLog({
    levels: { standard: 'info', components: new Map() },
    format: config.logging.format,
    nodeId,
    bootId,
    clock,
    write(text) {
      terminal.stderr.write(text)
      return true
    },
  })
  const { log } = writer
  try {
    const url = config.database.url
    const db = await openDatabase({
      url,
      config: config.database,
      clock,
      log,
      access,
      randomness: ids.bytes,
    })
    try {
      return await body({ db, clock, log, ids, bootId })
    } finally {
      await db.close()
    }
  } catch (error) {
    return await refusal(error, terminal, refused)
  } finally {
    writer.flush()
  }
}

async function refusal(
  error: unknown,
  terminal: Terminal,
  refused: number | undefined,
): Promise<number> {
  if (!(error instanceof Error)) throw error
  printLines(terminal.stderr, [`guildhall: ${printable(reasonOf(error))}`])
  if (refused !== undefined) return refused
  const { SchemaNotUsable } = await import('../database/migrations/migrate.ts')
  return error instanceof SchemaNotUsable ? exitCodes.schemaNotUsable : exitCodes.failure
}

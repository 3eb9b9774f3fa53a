import { reasonOf } from '../../../kernel/errors/reason.ts'
import type { Log } from '../../../kernel/log/log.ts'
import { DatabaseUnavailable, DatabaseUnfit } from '../../database.ts'
import { ConnectionLost, isUnreachable, sqlState } from '../errors.ts'
import { Connection, type ConnectionOptions } from './connection.ts'

const retryMs = 1000

/**
 * Waits for the server up to `waitMs` and then makes sure that it is new enough and stores UTF-8. A
 * refused login, an unknown database or a malformed URL fails at once: waiting would not help.
 */
export async function connectAtStart(
  options: ConnectionOptions,
  { waitMs, log }: { waitMs: number; log: Log },
): Promise<void> {
  const giveUpAtMs = options.clock.monotonicMs() + waitMs
  checkUrl(options.url)
  for (let first = true; ; first = false) {
    try {
      const connection = await Connection.open(options)
      await checkServer(connection).finally(() => connection.close())
      return
    } catch (error) {
      if (!isUnreachable(error)) throw startError(error)
      if (options.clock.monotonicMs() + retryMs > giveUpAtMs) {
        throw new DatabaseUnavailable('the database cannot be reached', { cause: error })
      }
      if (first) log.warn('the database cannot be reached yet', { reason: reasonOf(error) })
      await options.clock.sleep(retryMs)
    }
  }
}

async function checkServer(connection: Connection): Promise<void> {
  const answer = await connection.command(
    "SELECT current_setting('server_version_num'), current_setting('server_encoding')",
  )
  const [version, encoding] = answer.rows[0] ?? []
  if (Number(version) < oldestVersion) {
    throw new DatabaseUnfit('the database must be PostgreSQL 14 or newer')
  }
  if (encoding?.toUpperCase() !== 'UTF8') {
    throw new DatabaseUnfit(`the encoding of the database must be UTF8, not ${encoding}`)
  }
}

const oldestVersion = 140_000

/** The message must not repeat the URL: it may hold a password. */
function checkUrl(url: string): void {
  if (!URL.canParse(url)) throw new DatabaseUnfit('database.url is not a valid URL')
}

function startError(error: unknown): unknown {
  const state = sqlState(error)
  if (state === undefined || error instanceof ConnectionLost) return error
  return new DatabaseUnfit(`the database refuses this node (${state})`, { cause: error })
}

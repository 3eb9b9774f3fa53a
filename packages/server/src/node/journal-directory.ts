import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Config } from '../config/schema.ts'

/**
 * Where the error journal lies unless configured: beside an embedded file, in the working directory
 * with PostgreSQL, and nowhere in memory. Only a configured folder is made when it is missing: that
 * of a database must exist, and a mistyped one must not come to exist here.
 */
export async function journalDirectory({ errors, database }: Config): Promise<string | undefined> {
  if (errors.directory !== undefined) {
    await mkdir(errors.directory, { recursive: true }).catch(() => undefined)
    return errors.directory
  }
  const { url } = database
  if (url === undefined || url === 'memory:') return undefined
  return url.startsWith('sqlite:') ? dirname(url.slice('sqlite:'.length)) : '.'
}

import { dirname } from 'node:path'
import type { Config } from '../config/schema.ts'

/**
 * Where the error journal lies unless configured: beside an embedded file, in the working directory
 * with PostgreSQL, and nowhere in memory.
 */
export function journalDirectory({ errors, database }: Config): string | undefined {
  if (errors.directory !== undefined) return errors.directory
  const { url } = database
  if (url === undefined || url === 'memory:') return undefined
  return url.startsWith('sqlite:') ? dirname(url.slice('sqlite:'.length)) : '.'
}

import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'

/** SQLite gives the log and its index the mode of the database file. */
const ownerOnly = 0o600

/** Makes an empty file for its owner's eyes only, unless there is one. */
export function createIfMissing(path: string): void {
  if (existsSync(path)) return
  closeSync(openSync(path, 'a', ownerOnly))
  chmodSync(path, ownerOnly)
}

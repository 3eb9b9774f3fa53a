import { closeSync, fstatSync, openSync, type Stats, statSync } from 'node:fs'

/** Answers later whether what is at `path` is still the file that was there at first. */
export function identityOf(path: string): () => boolean {
  const first = statSync(path)
  return () => isAt(path, first)
}

/** A file that is known again however long it is away: nothing else gets its number meanwhile. */
export type HeldFile = { isInPlace(): boolean; close(): void }

/**
 * Holds the database file open that all these names lead to, also by links. To be closed after all
 * connections: with this descriptor the locks go that SQLite holds on the file in this process.
 */
export function holdFile(path: string, ...otherNames: string[]): HeldFile {
  const descriptor = openSync(path, 'r')
  return {
    isInPlace() {
      const held = fstatSync(descriptor)
      return [path, ...otherNames].every((name) => isAt(name, held))
    },
    close: () => closeSync(descriptor),
  }
}

function isAt(path: string, { dev, ino }: Stats): boolean {
  try {
    const found = statSync(path)
    return found.ino === ino && found.dev === dev
  } catch {
    return false
  }
}

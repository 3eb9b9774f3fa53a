import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../wire/limits.ts'
import { sha256 } from '../wire/revision.ts'

/** What stands for a path that leads nowhere, or to a file that no script may load. */
const absent = '-'

/**
 * What files are at this moment, by what their links lead to. Two equal texts mean that nothing
 * was written, renamed or linked in between, as far as the file system says.
 */
export async function lookAt(folder: string, paths: Iterable<string>): Promise<string> {
  const marks = await Promise.all([...paths].sort().map((path) => markOf(join(folder, path), path)))
  return marks.join('\n')
}

async function markOf(at: string, path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(at)
    return [path, dev, ino, size, mtimeMs, ctimeMs].join(' ')
  } catch {
    return `${path} ${absent}`
  }
}

/** The hash of what each path holds; of a folder, of the names in it. */
export type Contents = ReadonlyMap<string, string>

export async function contentsOf(folder: string, paths: Iterable<string>): Promise<Contents> {
  const hashes = await Promise.all(
    [...paths].sort().map(async (path) => [path, await contentOf(join(folder, path))] as const),
  )
  return new Map(hashes)
}

async function contentOf(at: string): Promise<string> {
  try {
    const found = await stat(at)
    if (found.isDirectory()) return sha256((await readdir(at)).sort().join('/'))
    return found.size > limits.sourceFileBytes ? absent : sha256(await readFile(at))
  } catch {
    return absent
  }
}

/** How bytes that were read before, or were not there, stand in `Contents`. */
export function contentOfBytes(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? absent : sha256(bytes)
}

export function areEqual(a: Contents, b: Contents): boolean {
  return a.size === b.size && [...a].every(([path, hash]) => b.get(path) === hash)
}

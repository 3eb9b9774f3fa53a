import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

export type FileText = { text: string; readableByOthers: boolean }

/**
 * Reads a whole file of at most `bytesMax` bytes of UTF-8. Throws a `FileFault` whose message says
 * what is wrong in the words of a problem line, or one with `missing` set when there is no file.
 */
export function readTextFile(path: string, bytesMax: number): FileText {
  const bytes = Buffer.allocUnsafe(bytesMax + 1)
  let filled = 0
  let readableByOthers = false
  try {
    const file = openSync(path, 'r')
    try {
      const stats = fstatSync(file)
      if (stats.isDirectory()) throw new FileFault('is a folder')
      readableByOthers = process.platform !== 'win32' && (stats.mode & 0o044) !== 0
      for (let got = -1; got !== 0 && filled < bytes.length; filled += got) {
        got = readSync(file, bytes, filled, bytes.length - filled, null)
      }
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw error instanceof FileFault ? error : new FileFault(words(error), isMissing(error))
  }
  if (filled > bytesMax) throw new FileFault(`is larger than ${bytesMax / 1024} KiB`)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, filled))
    return { text, readableByOthers }
  } catch {
    throw new FileFault('is not UTF-8')
  }
}

export class FileFault extends Error {
  override readonly name = 'FileFault'
  readonly missing: boolean

  constructor(wrong: string, missing = false) {
    super(wrong)
    this.missing = missing
  }
}

function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT'
}

function words(error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'does not exist'
    case 'EACCES':
    case 'EPERM':
      return 'may not be read by this user'
    case 'EISDIR':
      return 'is a folder'
    default:
      return `cannot be read (${codeOf(error)})`
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}

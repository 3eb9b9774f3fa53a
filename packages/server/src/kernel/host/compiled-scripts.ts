import { readFileSync, renameSync, rm, writeFileSync } from 'node:fs'
import { createRequire, getCompileCacheDir } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
import { crc32 } from 'node:zlib'

/**
 * The large files of the built server are scripts, not modules. Of a module Node.js keeps what was
 * compiled before it ran, which is not one function of those that a start calls; of a script it
 * lets us keep what is compiled by the time the node is ready.
 */

/** What a script is called with: what it takes of other files, and what a module has of itself. */
type Body = (
  taken: object,
  require: NodeJS.Require,
  meta: Pick<ImportMeta, 'url' | 'resolve'>,
  load: (file: string) => Promise<unknown>,
) => object

/** Scripts that were compiled here, and the files that are to have the result. */
const compiled: { script: Script; sourceCheck: number; keptFile: string }[] = []

/**
 * Runs the script of a built file.
 *
 * @param taken by their file, the modules that it takes something of
 * @returns what it exports
 */
export function runScript(place: URL, taken: object): object {
  const filename = fileURLToPath(place)
  const source = readFileSync(filename)
  const sourceCheck = crc32(source)
  const keptFile = keptFileOf(filename)
  const cachedData = keptFile && readKept(keptFile, sourceCheck)
  // The build writes ASCII.
  const script = new Script(source.toString('latin1'), {
    filename,
    ...(cachedData && { cachedData }),
  })
  if (keptFile && (cachedData === undefined || script.cachedDataRejected)) {
    compiled.push({ script, sourceCheck, keptFile })
  }
  const body: Body = script.runInThisContext()
  // It lies beside this file, so that what it names is found from here as well.
  const { resolve } = import.meta
  const meta = { url: place.href, resolve }
  return body(taken, createRequire(place), meta, (file) => import(file))
}

/** Keeps what is compiled by now for the starts to come, unless this one had it already. */
export function keepCompiled(): void {
  for (const { script, sourceCheck, keptFile } of compiled.splice(0)) {
    const next = `${keptFile}.${process.pid}`
    try {
      const data = script.createCachedData()
      const checks = Buffer.alloc(checksBytes)
      checks.writeUInt32LE(sourceCheck)
      checks.writeUInt32LE(crc32(data), 4)
      writeFileSync(next, Buffer.concat([checks, data]), { mode: 0o600 })
      renameSync(next, keptFile)
    } catch {
      // The next start compiles as well. A full disk gets back what this has taken.
      rm(next, () => undefined)
    }
  }
}

/** Below the folder that Node.js has for the same release, processor and flags, if it has one. */
function keptFileOf(filename: string): string | undefined {
  const folder = getCompileCacheDir()
  if (folder === undefined || process.permission?.has('fs.write', folder) === false) return
  return join(folder, `${basename(filename)}-${crc32(filename).toString(16)}`)
}

const checksBytes = 8

/** V8 trusts what it is given: a file that a power failure has cut short would end the node. */
function readKept(keptFile: string, sourceCheck: number): Buffer | undefined {
  try {
    const bytes = readFileSync(keptFile)
    const data = bytes.subarray(checksBytes)
    const isWhole = bytes.readUInt32LE() === sourceCheck && bytes.readUInt32LE(4) === crc32(data)
    return isWhole ? data : undefined
  } catch {
    return undefined
  }
}

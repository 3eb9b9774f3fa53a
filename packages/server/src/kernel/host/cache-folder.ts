import { existsSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import type { Clock } from '../clock.ts'

/** Where a node keeps what it can make again; several may share it, also of other versions. */
export function cacheFolder({ XDG_CACHE_HOME: cache }: NodeJS.ProcessEnv): string {
  return join(cache || join(homedir(), '.cache'), 'guildhall')
}

/**
 * The same, made where it is missing: what lies in there is run.
 *
 * @throws Error where that cannot be, or where another user could write
 */
export function openCacheFolder(environment: NodeJS.ProcessEnv): string {
  // Throws for a user of whom the system knows no home.
  const folder = cacheFolder(environment)
  // Below the working directory it would come with whatever game is there.
  if (!isAbsolute(folder)) throw new Error(`${folder} is no absolute path`)
  return openOwn(folder)
}

/**
 * Where Node.js keeps what it has compiled, so that only a first start pays for the compiler; made
 * where it is missing. Undefined where that cannot be. It begins anew once a month, because older
 * programs leave theirs behind.
 */
export function compiledFolder(
  environment: NodeJS.ProcessEnv,
  clock: Pick<Clock, 'nowUnixMs'>,
): string | undefined {
  try {
    const compiled = openOwn(join(openCacheFolder(environment), 'compiled'))
    // It gets and loses nothing but the folders of versions. Not all file systems know its birth.
    if (lstatSync(compiled).mtimeMs < clock.nowUnixMs() - keptMs) {
      rmSync(compiled, { recursive: true })
      mkdirSync(compiled, { mode: 0o700 })
    }
    return compiled
  } catch {
    return undefined
  }
}

function openOwn(folder: string): string {
  makeFolder(folder)
  const found = lstatSync(folder)
  const isOfUser = found.isDirectory() && found.uid === process.getuid?.()
  if (isOfUser && (found.mode & writableByOthers) === 0) return folder
  throw new Error(`others can write to ${folder}`)
}

/** Not by `recursive`: of Node.js that never ends where a mount makes no folders, as in `/proc`. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another node may have made it meanwhile.
    if (!existsSync(folder)) throw error
  }
}

const writableByOthers = 0o022
const keptMs = 30 * 86_400_000

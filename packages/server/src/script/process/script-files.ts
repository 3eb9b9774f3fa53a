import { isUtf8 } from 'node:buffer'
import type { Dirent } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, extname, join, resolve, sep } from 'node:path'
import type { ScriptFile } from '../wire/revision.ts'
import { ScriptLoadError } from './load-error.ts'

const filesMax = 2_000
const bytesMax = 16_777_216

/** Which files a language has. */
export type FilesOfLanguage = {
  /** Of the language's own files, each with its dot; `.json` is everybody's. */
  readonly extensions: readonly string[]
  /** Whether its own files must be UTF-8. */
  readonly isUtf8: boolean
}

/** The folder of a script, and the names of those beside it that belong to it as well. */
export type ScriptFolders = { readonly own: string; readonly shared: readonly string[] }

export function besideScripts(own: string, name: string): string {
  return join(dirname(resolve(own)), name)
}

/**
 * Reads the files of a script that its worker must not read itself: those of the language and
 * `.json`, outside of `node_modules`. They are the whole revision. Those of a shared folder have
 * paths such as `../common/rules.lua`.
 *
 * @param visited called with the path of each folder that is looked into, the first is empty
 * @throws ScriptLoadError for more than a script may have, a link that leads out of the folder, and
 * a file that is not UTF-8 where it must be
 */
export async function readScriptFiles(
  { own, shared }: ScriptFolders,
  language: FilesOfLanguage,
  visited: (folder: string) => void = () => {},
): Promise<ScriptFile[]> {
  const wanted = new Set([...language.extensions, '.json'])
  const files: ScriptFile[] = []
  let bytes = 0

  async function take(path: string, at: string): Promise<void> {
    if (files.length >= filesMax) {
      throw new ScriptLoadError({ message: `the script has more than ${filesMax} files` })
    }
    bytes += (await stat(at)).size
    if (bytes > bytesMax) throw tooLarge()
    const content = await readFile(at)
    const isText = language.isUtf8 || extname(path) === '.json'
    if (isText && !isUtf8(content)) {
      throw new ScriptLoadError({ message: 'the file is not UTF-8', file: path })
    }
    files.push({ path, bytes: new Uint8Array(content) })
  }

  async function walk({ path: folder, at, root, above }: Walked): Promise<void> {
    visited(folder)
    const entries = await readdir(at, { withFileTypes: true })
    for (const entry of entries.sort(byName)) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.name === 'node_modules') continue
      const inner = { path, at: join(at, entry.name), root, above }
      const isWanted = wanted.has(extname(entry.name))
      if (entry.isFile() && isWanted) await take(path, inner.at)
      else if (entry.isDirectory()) await walk(inner)
      else if (entry.isSymbolicLink()) await follow(inner, isWanted)
    }
  }

  async function follow({ path, at, root, above }: Walked, isWanted: boolean): Promise<void> {
    const target = await realpath(at).catch(() => undefined)
    // It leads nowhere, like a file that is not there.
    if (target === undefined) return
    const isFolder = (await stat(target)).isDirectory()
    if (!isFolder && !isWanted) return
    if (target !== root && !target.startsWith(root + sep)) {
      throw new ScriptLoadError({ message: 'the link leads out of the scripts folder', file: path })
    }
    if (!isFolder) await take(path, target)
    else if (!above.has(target)) {
      await walk({ path, at: target, root, above: new Set([...above, target]) })
    }
  }

  async function walkAll(path: string, folder: string): Promise<void> {
    const root = await realpath(folder).catch(() => undefined)
    if (root === undefined) {
      throw new ScriptLoadError({ message: `there is no folder ${folder}` })
    }
    await walk({ path, at: root, root, above: new Set([root]) })
  }

  await walkAll('', own)
  for (const name of shared) await walkAll(`../${name}`, besideScripts(own, name))
  return files
}

/** A folder or link on the way through those of a script. */
type Walked = {
  /** As the script knows it. */
  readonly path: string
  readonly at: string
  /** The folder that nothing may lead out of, without symbolic links. */
  readonly root: string
  /** The folders that lead here: a link to one of them has no end. */
  readonly above: ReadonlySet<string>
}

function tooLarge(): ScriptLoadError {
  return new ScriptLoadError({ message: `the script's files are larger than ${bytesMax} bytes` })
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1
}

import { isUtf8 } from 'node:buffer'
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { isBuiltin, registerHooks, stripTypeScriptTypes } from 'node:module'
import { dirname, extname, join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { limits } from '../../../wire/limits.ts'
import type { ScriptFile } from '../../../wire/revision.ts'
import { HostMap } from '../../host-map.ts'
import { mapFileOf } from '../../source-maps.ts'
import type { EngineDeps } from '../engine.ts'

/** An import that cannot be followed; the place is that of the import. */
export class ModuleProblem extends Error {
  override readonly name = 'ModuleProblem'
  readonly file: string
  readonly line: number | undefined

  constructor(message: string, file: string, line?: number) {
    super(message)
    this.file = file
    this.line = line
  }
}

export type Loader = {
  /**
   * Loads the entry file and everything that it imports, and runs their top level. With a snapshot
   * these are its bytes.
   */
  load(entry: string, snapshot: readonly ScriptFile[] | undefined): Promise<void>
  /** The local files that have been loaded so far. */
  files(): ScriptFile[]
  /** What one of them holds. */
  bytesOf(path: string): Uint8Array | undefined
  /** The URL of each folder of the script, with what the paths of its files begin with. */
  readonly roots: readonly Root[]
}

type Root = { readonly url: string; readonly path: string; readonly folder: string }

const formats: { readonly [extension: string]: 'module' | 'module-typescript' | 'json' } = {
  '.ts': 'module-typescript',
  '.mts': 'module-typescript',
  '.js': 'module',
  '.mjs': 'module',
  '.json': 'json',
}

/**
 * Reads the script's own files through the host: what is loaded has exactly the bytes that the
 * revision names, and a restart runs the bytes that were read before. Packages and Node's own
 * modules are loaded as usual.
 */
export function createLoader(settings: LoaderSettings, asked: EngineDeps['asked']): Loader {
  const { scriptsDir } = settings
  const roots = rootsOf(settings)
  const [own] = roots
  const packages = packageFolders(settings)
  const loaded = new HostMap<string, Uint8Array>()
  const given = new HostMap<string, Uint8Array>()
  let hasSnapshot = false
  let open = true

  /** The path from the scripts folder, if the URL is one of the script's own files. */
  function localPath(url: string | undefined): string | undefined {
    const root = roots.find((each) => url?.startsWith(each.url))
    if (url === undefined || root === undefined) return undefined
    const below = decodeURIComponent(new URL(url).pathname.slice(new URL(root.url).pathname.length))
    return below.split('/').includes('node_modules') ? undefined : root.path + below
  }

  /** Where a local file is, and the folder that it must not lead out of. */
  function placeOf(path: string): { at: string; folder: string } {
    const { folder, path: start } = roots.find((root) => isIn(root, path)) ?? own
    return { at: join(folder, path.slice(start.length)), folder }
  }

  function read(path: string): Uint8Array {
    const known = given.get(path) ?? loaded.get(path)
    if (known) return known
    if (!open) throw new ModuleProblem('local files are loaded while the script starts', path)
    if (hasSnapshot) throw new ModuleProblem('the file is not part of this revision', path)
    const { at, folder } = placeOf(path)
    if (!realpathSync(at).startsWith(folder + sep)) {
      throw new ModuleProblem('the file lies outside of the scripts folder', path)
    }
    if (statSync(at).size > limits.sourceFileBytes) {
      asked(path, undefined)
      throw new ModuleProblem(`the file has more than ${limits.sourceFileBytes} bytes`, path)
    }
    const bytes = new Uint8Array(readFileSync(at))
    asked(path, bytes)
    if (!isUtf8(bytes)) throw new ModuleProblem('the file is not UTF-8', path)
    return bytes
  }

  /** The map that a file names is loaded with it, for the places of errors. */
  function loadMap(path: string, source: Uint8Array): void {
    const map = mapFileOf(path, new TextDecoder().decode(source))
    const isOwn = map !== undefined && roots.some((root) => isIn(root, map))
    if (isOwn && isThere(map)) loaded.set(map, read(map))
  }

  function isThere(path: string): boolean {
    if (given.has(path) || loaded.has(path)) return true
    return !hasSnapshot && statSync(placeOf(path).at, { throwIfNoEntry: false })?.isFile() === true
  }

  /** What an import of a file that is not there may have meant. */
  function missingFile(specifier: string, path: string): string {
    const stem = path.replace(/\.[cm]?[jt]s$/, '')
    const meant = [...Object.keys(formats), '/index.ts', '/index.js'].find((end) => {
      return isThere(`${stem}${end}`)
    })
    const missing = `there is no file ${specifier}`
    if (meant === undefined) return missing
    const written = specifier.replace(/\.[cm]?[jt]s$/, '').replace(/\/$/, '')
    return `${missing}: write '${written}${meant}', with the whole name of the file`
  }

  /** The line that imports it, as far as its text shows. */
  function lineOf(parent: string, specifier: string): number | undefined {
    const text = new TextDecoder().decode(loaded.get(parent))
    const at = [`'${specifier}'`, `"${specifier}"`].map((quoted) => text.indexOf(quoted))
    const first = Math.min(...at.filter((place) => place >= 0))
    return Number.isFinite(first) ? text.slice(0, first).split('\n').length : undefined
  }

  registerHooks({
    resolve(specifier, context, next) {
      const parent = localPath(context.parentURL)
      if (parent === undefined || isBuiltin(specifier)) return next(specifier, context)
      const problem = (message: string) =>
        new ModuleProblem(message, parent, lineOf(parent, specifier))
      if (!/^(\.{0,2}\/|file:)/.test(specifier)) {
        const missing = missingPackage(packages, specifier)
        if (missing !== undefined) throw problem(missing)
        // Shared folders have the packages of the script.
        return next(specifier, { ...context, parentURL: own.url })
      }
      const { href } = new URL(specifier, context.parentURL)
      const path = localPath(href)
      if (path === undefined) throw problem(`${specifier} lies outside of the scripts folder`)
      if (open && !isThere(path)) {
        asked(path, undefined)
        throw problem(missingFile(specifier, path))
      }
      return { url: href, shortCircuit: true }
    },
    load(url, context, next) {
      const path = localPath(url)
      if (path === undefined) return next(url, context)
      const format = formats[extname(path)]
      if (!format) throw new ModuleProblem('the file is no ES module (.ts, .js, .mjs, .json)', path)
      const source = read(path)
      loaded.set(path, source)
      loadMap(path, source)
      return { format, source, shortCircuit: true }
    },
  })

  return {
    async load(entry, snapshot) {
      hasSnapshot = snapshot !== undefined
      for (const { path, bytes } of snapshot ?? []) given.set(path, bytes)
      try {
        await import(pathToFileURL(join(scriptsDir, entry)).href)
      } finally {
        open = false
      }
    },
    roots,
    bytesOf: (path) => loaded.get(path),
    files: () => Array.from(loaded, ([path, bytes]) => ({ path, bytes })),
  }
}

type LoaderSettings = Pick<EngineDeps['settings'], 'scriptsDir' | 'sharedDirs' | 'packagesRoot'>

/** The folder of the script, and those beside it that belong to it as well. */
function rootsOf({ scriptsDir, sharedDirs }: LoaderSettings): [Root, ...Root[]] {
  const urlOf = (folder: string) => pathToFileURL(folder + sep).href
  const beside = dirname(scriptsDir)
  const shared = sharedDirs.map(({ name, folder }) => {
    return { url: urlOf(join(beside, name)), path: `../${name}/`, folder }
  })
  return [{ url: urlOf(scriptsDir), path: '', folder: scriptsDir }, ...shared]
}

function isIn({ path: start }: Root, path: string): boolean {
  return start === '' ? !path.startsWith('../') : path.startsWith(start)
}

/** The `node_modules` of the scripts folder, and of the folders above it up to the last one. */
function packageFolders({ scriptsDir, packagesRoot }: LoaderSettings): string[] {
  const folders = [scriptsDir]
  const isInside = packagesRoot !== '' && scriptsDir.startsWith(packagesRoot + sep)
  for (let at = scriptsDir; isInside && at !== packagesRoot; ) {
    at = dirname(at)
    folders.push(at)
  }
  return folders.map((folder) => join(folder, 'node_modules'))
}

/** Node.js would look further above. */
function missingPackage(packages: readonly string[], specifier: string): string | undefined {
  const [scope = '', name = ''] = specifier.split('/')
  const folder = scope.startsWith('@') ? `${scope}/${name}` : scope
  if (packages.some((place) => existsSync(join(place, folder)))) return undefined
  return `the package ${folder} is not there: looked in ${packages.join(', ')}, and nowhere else`
}

/**
 * The engine does not reveal where a JavaScript module does not parse. The stripper of types parses
 * JavaScript as well, and does.
 */
export function findSyntaxError(files: readonly ScriptFile[]): { file?: string; line?: number } {
  for (const { path, bytes } of files) {
    if (['.json', '.map'].includes(extname(path))) continue
    try {
      stripTypeScriptTypes(new TextDecoder().decode(bytes), { sourceUrl: path })
    } catch (error) {
      const stack = error instanceof Error ? String(error.stack) : ''
      const line = Number(stack.slice(path.length + 1).split('\n')[0])
      return Number.isInteger(line) ? { file: path, line } : { file: path }
    }
  }
  return {}
}

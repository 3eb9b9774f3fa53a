import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { isBuiltin, registerHooks, stripTypeScriptTypes } from 'node:module'
import { extname, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { ScriptFile } from '../../../wire/revision.ts'
import { HostMap } from '../../host-map.ts'

/** An import that cannot be followed; `file` is the one that asks for it. */
export class ModuleProblem extends Error {
  override readonly name = 'ModuleProblem'
  readonly file: string | undefined

  constructor(message: string, file: string | undefined) {
    super(message)
    this.file = file
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
}

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
export function createLoader(scriptsDir: string): Loader {
  const root = pathToFileURL(scriptsDir + sep).href
  const loaded = new HostMap<string, Uint8Array>()
  const given = new HostMap<string, Uint8Array>()
  let hasSnapshot = false
  let open = true

  /** The path below the scripts folder, if the URL is one of the script's own files. */
  function localPath(url: string | undefined): string | undefined {
    if (!url?.startsWith(root)) return undefined
    const path = decodeURIComponent(new URL(url).pathname.slice(new URL(root).pathname.length))
    return path.split('/').includes('node_modules') ? undefined : path
  }

  function read(path: string): Uint8Array {
    const known = given.get(path) ?? loaded.get(path)
    if (known) return known
    if (!open) throw new ModuleProblem('local files are loaded while the script starts', path)
    if (hasSnapshot) throw new ModuleProblem('the file is not part of this revision', path)
    const file = join(scriptsDir, path)
    if (!existsSync(file)) throw new ModuleProblem('the file does not exist', path)
    if (!realpathSync(file).startsWith(scriptsDir + sep)) {
      throw new ModuleProblem('the file lies outside of the scripts folder', path)
    }
    return new Uint8Array(readFileSync(file))
  }

  registerHooks({
    resolve(specifier, context, next) {
      const parent = localPath(context.parentURL)
      if (parent === undefined || isBuiltin(specifier)) return next(specifier, context)
      if (!/^(\.{0,2}\/|file:)/.test(specifier)) {
        checkPackage(scriptsDir, specifier, parent)
        return next(specifier, context)
      }
      const { href } = new URL(specifier, context.parentURL)
      if (localPath(href) === undefined) {
        throw new ModuleProblem(`${specifier} lies outside of the scripts folder`, parent)
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
      return { format, source, shortCircuit: true }
    },
  })

  return {
    async load(entry, snapshot) {
      hasSnapshot = snapshot !== undefined
      for (const { path, bytes } of snapshot ?? []) given.set(path, bytes)
      try {
        await import(pathToFileURL(join(fileURLToPath(root), entry)).href)
      } finally {
        open = false
      }
    },
    files: () => Array.from(loaded, ([path, bytes]) => ({ path, bytes })),
  }
}

/** Packages come from the scripts folder's own node_modules only. */
function checkPackage(scriptsDir: string, specifier: string, parent: string): void {
  const [scope = '', name = ''] = specifier.split('/')
  const folder = scope.startsWith('@') ? join(scope, name) : scope
  if (!existsSync(join(scriptsDir, 'node_modules', folder))) {
    throw new ModuleProblem(`the package ${specifier} is not in node_modules`, parent)
  }
}

/**
 * The engine does not reveal where a JavaScript module does not parse. The stripper of types parses
 * JavaScript as well, and does.
 */
export function findSyntaxError(files: readonly ScriptFile[]): { file?: string; line?: number } {
  for (const { path, bytes } of files) {
    if (extname(path) === '.json') continue
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

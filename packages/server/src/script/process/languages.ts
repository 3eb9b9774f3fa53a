import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ScriptTier } from '@guildhall/contract'
import type { ScriptConfig } from '../config.ts'
import type { ScriptFile } from '../wire/revision.ts'
import { findPackage } from './engine-packages.ts'
import { type Engine, guestEngine } from './engine-programs.ts'
import { ScriptLoadError } from './load-error.ts'
import { readScriptFiles } from './script-files.ts'

export type LanguageName = 'typescript' | 'javascript' | 'lua' | 'python'

type Language = {
  readonly name: LanguageName
  readonly aliases: readonly string[]
  readonly entrypoints: readonly string[]
  readonly engines: { readonly [tier in ScriptTier]?: Engine }
}

/** A port of its own, found where it listens and by no line on stderr. */
const inspectorFlags = ['--inspect=127.0.0.1:0', '--inspect-publish-uid=http']

/**
 * An interrupt skips what AsyncResource.runInAsyncScope does behind a handler. Node.js would end
 * the process when it finds its stack of async ids longer than it was.
 */
const uncheckedIds = '--no-force-async-hooks-checks'

const trustedJavascript: Engine = {
  entry: new URL('../worker/engines/javascript/main.ts', import.meta.url),
  execArgv: ({ inspects }) => [uncheckedIds, ...(inspects ? inspectorFlags : [])],
  hasInspector: true,
  files: { by: 'engine' },
}

const sandboxedJavascript = guestEngine({
  entry: new URL('../worker/engines/quickjs/main.ts', import.meta.url),
  package: 'quickjs-wasi',
  files: { extensions: ['.ts', '.mts', '.js', '.mjs', '.map'], isUtf8: true },
})

const lua = guestEngine({
  entry: new URL('../worker/engines/lua/main.ts', import.meta.url),
  package: 'wasmoon',
  files: { extensions: ['.lua'], isUtf8: false },
})

const python = guestEngine({
  entry: new URL('../worker/engines/python/main.ts', import.meta.url),
  package: 'pyodide',
  files: { extensions: ['.py'], isUtf8: true },
  hasImage: true,
  memoryMbMin: 128,
  // Recursion of its native code needs more than the megabyte that Node.js allows.
  flags: ['--stack-size=7000'],
})

/** Every language in the order in which entry files are looked for. */
export const languages: readonly Language[] = [
  {
    name: 'typescript',
    aliases: ['ts'],
    entrypoints: ['main.ts'],
    engines: { trusted: trustedJavascript, sandboxed: sandboxedJavascript },
  },
  {
    name: 'javascript',
    aliases: ['js'],
    entrypoints: ['main.mjs', 'main.js'],
    engines: { trusted: trustedJavascript, sandboxed: sandboxedJavascript },
  },
  {
    name: 'lua',
    aliases: [],
    entrypoints: ['main.lua'],
    engines: { trusted: lua, sandboxed: lua },
  },
  {
    name: 'python',
    aliases: ['py'],
    entrypoints: ['main.py'],
    engines: { trusted: python, sandboxed: python },
  },
]

export type Selection = {
  readonly language: LanguageName
  readonly source: 'explicit' | 'autodetected'
  readonly file: string
  readonly engine: Engine
  /** Where the package of the engine lies; empty for the engine of Node.js itself. */
  readonly packageDir: string
}

type Wanted = Pick<ScriptConfig, 'language' | 'scripts_dir' | 'tier' | 'memory_mb' | 'inspect'>

/** The canonical name of a configured language or alias. */
export function canonicalLanguage(configured: string | undefined): LanguageName | null {
  if (configured === undefined) return null
  const found = languages.find(({ name, aliases }) => [name, ...aliases].includes(configured))
  if (!found) throw new ScriptLoadError({ message: `unknown script language ${configured}` })
  return found.name
}

/**
 * Finds the entry file; undefined when there is none.
 *
 * @param find where a package lies; undefined when it is not installed
 * @throws ScriptLoadError when the engine of the file is not installed or has too little memory
 */
export function selectEntrypoint(
  { language, scripts_dir, tier, memory_mb, inspect }: Wanted,
  find: (name: string) => string | undefined = findPackage,
): Selection | undefined {
  const wanted = canonicalLanguage(language)
  const candidates = wanted ? languages.filter(({ name }) => name === wanted) : languages
  for (const { name, entrypoints, engines } of candidates) {
    const file = entrypoints.find((entrypoint) => isFile(join(scripts_dir, entrypoint)))
    if (file === undefined) continue
    const engine = engines[tier]
    const packageDir = engine?.package === undefined ? '' : find(engine.package)
    if (!engine || packageDir === undefined) throw notInstalled(name, { tier, file, engine })
    expectMemory(name, { memory_mb, file, engine })
    expectInspector({ inspect, file, engine })
    const source = wanted ? 'explicit' : 'autodetected'
    return { language: name, source, file, engine, packageDir }
  }
  return undefined
}

type Least = { memory_mb: number; file: string; engine: Engine }

function expectMemory(language: LanguageName, { memory_mb, file, engine }: Least): void {
  const { memoryMbMin = 0 } = engine
  if (memory_mb >= memoryMbMin) return
  const message = `runtime.memory_mb must be at least ${memoryMbMin} for ${language} scripts`
  throw new ScriptLoadError({ message, file })
}

type Inspection = { inspect: string | undefined; file: string; engine: Engine }

function expectInspector({ inspect, file, engine }: Inspection): void {
  if (inspect === undefined || engine.hasInspector) return
  const message = 'runtime.inspect is for TypeScript and JavaScript in the trusted tier'
  throw new ScriptLoadError({ message, file })
}

type Missing = { tier: ScriptTier; file: string; engine: Engine | undefined }

function notInstalled(language: LanguageName, { tier, file, engine }: Missing): ScriptLoadError {
  const what = `the engine of ${language} scripts in the ${tier} tier is not installed`
  const how = engine?.package === undefined ? '' : `: install the package ${engine.package}`
  return new ScriptLoadError({ message: `${what}${how}`, file })
}

/** The files that a worker is handed, and the folders that they were looked for in. */
export type HandedFiles = {
  readonly files: readonly ScriptFile[]
  readonly folders: readonly string[]
}

/** Undefined where the engine reads the files itself. */
export async function filesToHandOver(
  { engine: { files } }: Selection,
  { scripts_dir: own, shared_dirs: shared }: Pick<ScriptConfig, 'scripts_dir' | 'shared_dirs'>,
): Promise<HandedFiles | undefined> {
  if (files.by !== 'node') return undefined
  const folders: string[] = []
  const visited = (folder: string) => void folders.push(folder)
  const read = await readScriptFiles({ own, shared }, files, visited)
  return { files: read, folders }
}

/** Every file that a script could begin with, whatever its language. */
export const entryFiles: readonly string[] = languages.flatMap(({ entrypoints }) => entrypoints)

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile()
}

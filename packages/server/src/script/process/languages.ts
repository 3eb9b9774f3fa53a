import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ScriptConfig } from '../config.ts'
import type { WorkerSettings } from '../wire/protocol.ts'
import type { ScriptFile } from '../wire/revision.ts'
import { ScriptLoadError } from './load-error.ts'
import { type FilesOfLanguage, readScriptFiles } from './script-files.ts'

export type LanguageName = 'typescript' | 'javascript' | 'lua' | 'python'

/** What runs the scripts of a language in one tier. */
export type Program = {
  /** The file that the worker's process begins with. */
  readonly entry: URL
  /** What its Node.js is started with, beside what every worker has. */
  execArgv(settings: Pick<WorkerSettings, 'memoryMb'>): readonly string[]
}

/** Whose business it is to read the files of a script. */
type FileReading =
  /** The node reads them all before the load, and they are the revision. */
  | ({ readonly by: 'node' } & FilesOfLanguage)
  /**
   * The engine reads what is imported, and that is the revision. It is for trusted scripts alone: a
   * game's folder may hold any number of other files, and packages are found as Node.js finds them.
   */
  | { readonly by: 'engine' }

type Engine = Program & { readonly files: FileReading }

type Language = {
  readonly name: LanguageName
  readonly aliases: readonly string[]
  readonly entrypoints: readonly string[]
  /** What runs it in each tier; a tier without one is not installed. */
  readonly engines: { readonly trusted?: Engine; readonly sandboxed?: Engine }
}

const trustedJavascript: Engine = {
  entry: new URL('../worker/engines/javascript/main.ts', import.meta.url),
  execArgv: () => [],
  files: { by: 'engine' },
}

/** Every language in the order in which entry files are looked for. */
export const languages: readonly Language[] = [
  {
    name: 'typescript',
    aliases: ['ts'],
    entrypoints: ['main.ts'],
    engines: { trusted: trustedJavascript },
  },
  {
    name: 'javascript',
    aliases: ['js'],
    entrypoints: ['main.mjs', 'main.js'],
    engines: { trusted: trustedJavascript },
  },
  { name: 'lua', aliases: [], entrypoints: ['main.lua'], engines: {} },
  { name: 'python', aliases: ['py'], entrypoints: ['main.py'], engines: {} },
]

export type Selection = {
  readonly language: LanguageName
  readonly source: 'explicit' | 'autodetected'
  readonly file: string
  readonly engine: Engine
}

type Wanted = Pick<ScriptConfig, 'language' | 'scripts_dir' | 'tier'>

/** The canonical name of a configured language or alias. */
export function canonicalLanguage(configured: string | undefined): LanguageName | null {
  if (configured === undefined) return null
  const found = languages.find(({ name, aliases }) => [name, ...aliases].includes(configured))
  if (!found) throw new ScriptLoadError({ message: `unknown script language ${configured}` })
  return found.name
}

/** Finds the entry file; undefined when there is none. Throws when its engine is not installed. */
export function selectEntrypoint({ language, scripts_dir, tier }: Wanted): Selection | undefined {
  const wanted = canonicalLanguage(language)
  const candidates = wanted ? languages.filter(({ name }) => name === wanted) : languages
  for (const candidate of candidates) {
    for (const file of candidate.entrypoints) {
      if (!isFile(join(scripts_dir, file))) continue
      const engine = candidate.engines[tier]
      if (!engine) {
        const message = `no engine is installed for ${candidate.name} scripts in the ${tier} tier`
        throw new ScriptLoadError({ message, file })
      }
      return {
        language: candidate.name,
        source: wanted ? 'explicit' : 'autodetected',
        file,
        engine,
      }
    }
  }
  return undefined
}

/** The files that a worker is handed; undefined where its engine reads them itself. */
export async function filesToHandOver(
  { engine: { files } }: Selection,
  scriptsDir: string,
): Promise<readonly ScriptFile[] | undefined> {
  return files.by === 'node' ? await readScriptFiles(scriptsDir, files) : undefined
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile()
}

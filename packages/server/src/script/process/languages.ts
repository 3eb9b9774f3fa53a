import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ScriptConfig } from '../config.ts'
import { ScriptLoadError } from './load-error.ts'

export type LanguageName = 'typescript' | 'javascript' | 'lua' | 'python'

type Language = {
  readonly name: LanguageName
  readonly aliases: readonly string[]
  readonly entrypoints: readonly string[]
  /** The worker that runs each tier; a tier without one is not installed. */
  readonly workers: { readonly trusted?: URL; readonly sandboxed?: URL }
}

const javascriptWorker = new URL('../worker/engines/javascript/main.ts', import.meta.url)

/** Every language in the order in which entry files are looked for. */
export const languages: readonly Language[] = [
  {
    name: 'typescript',
    aliases: ['ts'],
    entrypoints: ['main.ts'],
    workers: { trusted: javascriptWorker },
  },
  {
    name: 'javascript',
    aliases: ['js'],
    entrypoints: ['main.mjs', 'main.js'],
    workers: { trusted: javascriptWorker },
  },
  { name: 'lua', aliases: [], entrypoints: ['main.lua'], workers: {} },
  { name: 'python', aliases: ['py'], entrypoints: ['main.py'], workers: {} },
]

export type Selection = {
  readonly language: LanguageName
  readonly source: 'explicit' | 'autodetected'
  readonly file: string
  readonly worker: URL
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
      const worker = candidate.workers[tier]
      if (!worker) {
        const message = `no engine is installed for ${candidate.name} scripts in the ${tier} tier`
        throw new ScriptLoadError({ message, file })
      }
      return {
        language: candidate.name,
        source: wanted ? 'explicit' : 'autodetected',
        file,
        worker,
      }
    }
  }
  return undefined
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile()
}

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LanguageOfGame } from './languages.ts'

const templates = dirname(fileURLToPath(import.meta.resolve('create-guildhall/templates')))

/** Why nothing was written; its message is for the person who asked. */
export class CannotWrite extends Error {
  override readonly name = 'CannotWrite'
}

/**
 * Writes the folder of a game's script: what `guildhall init` makes.
 *
 * @returns the names of the files
 * @throws CannotWrite when the folder has something in it, or cannot be written to
 */
export function writeGame(folder: string, language: LanguageOfGame): string[] {
  return writeFolder(folder, (made) => copy(join(templates, language.name, 'game'), made, {}))
}

/**
 * Writes a whole project, with the script in a language.
 *
 * @param words what stands for `{{word}}` in files whose template begins with `_`
 * @throws CannotWrite
 */
export function writeProject(
  folder: string,
  language: LanguageOfGame,
  words: Readonly<Record<string, string>>,
): string[] {
  return writeFolder(folder, (made) => {
    for (const part of ['project', language.name]) copy(join(templates, part), made, words)
  })
}

/** Writes beside the folder and renames, so that a failure leaves nothing half done. */
function writeFolder(folder: string, fill: (made: string) => void): string[] {
  const target = resolve(folder)
  if (existsSync(target)) {
    if (!statSync(target).isDirectory()) throw new CannotWrite(`${folder} is no folder`)
    // A repository that was just begun is as good as empty.
    if (readdirSync(target).some((name) => name !== '.git')) {
      throw new CannotWrite(`${folder} is not empty, and nothing in it is replaced`)
    }
  }
  let made: string | undefined
  try {
    mkdirSync(dirname(target), { recursive: true })
    made = mkdtempSync(join(dirname(target), `.${basename(target)}-`))
    fill(made)
    mkdirSync(target, { recursive: true })
    const names = readdirSync(made)
    for (const name of names) renameSync(join(made, name), join(target, name))
    return names.toSorted()
  } catch (error) {
    throw new CannotWrite(`${folder} cannot be written: ${reasonOf(error)}`)
  } finally {
    if (made !== undefined) rmSync(made, { recursive: true, force: true })
  }
}

function copy(from: string, to: string, words: Readonly<Record<string, string>>): void {
  for (const { name, parentPath } of readdirSync(from, { withFileTypes: true })) {
    const source = join(parentPath, name)
    if (statSync(source).isDirectory()) {
      mkdirSync(join(to, name), { recursive: true })
      copy(source, join(to, name), words)
    } else if (name.startsWith('_')) {
      const text = readFileSync(source, 'utf8')
      writeFileSync(
        join(to, finalName(name)),
        text.replace(/\{\{(\w+)\}\}/g, (_, word) => words[word] ?? ''),
      )
    } else {
      cpSync(source, join(to, name))
    }
  }
}

function finalName(name: string): string {
  return name === '_gitignore' ? '.gitignore' : name.slice(1)
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  const known: Readonly<Record<string, string>> = {
    EACCES: 'no right to write there',
    EPERM: 'no right to write there',
    EROFS: 'the disk is read-only',
    ENOSPC: 'the disk is full',
    EEXIST: 'a part of the path is no folder',
    ENOTDIR: 'a part of the path is no folder',
  }
  return known[code] ?? code
}

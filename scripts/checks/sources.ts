import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSyntax, type Syntax } from './syntax.ts'

/** A file of the repository, as the checks see it. */
export type Source = {
  /** From the root of the repository, with forward slashes. */
  readonly path: string
  readonly text: string
}

/** A TypeScript file, with its comments and literals kept apart from its code. */
export type CodeSource = Source & Syntax & { readonly isTest: boolean }

export type Problem = { path: string; line: number; text: string }

/** Every text file of the tree, except what is installed or made. */
export function readSources(root: string): Source[] {
  return [...walk(root, '')]
}

function* walk(root: string, folder: string): Generator<Source> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = folder ? `${folder}/${entry.name}` : entry.name
    if (skipped.has(entry.name)) continue
    if (entry.isDirectory()) yield* walk(root, path)
    if (entry.isFile() && isText(entry.name)) {
      yield { path, text: readFileSync(join(root, path), 'utf8') }
    }
  }
}

export function codeSources(sources: readonly Source[]): CodeSource[] {
  return sources
    .filter(({ path }) => /\.tsx?$/.test(path))
    .map((source) => ({
      ...source,
      ...readSyntax(source.path, source.text),
      isTest: isTestPath(source.path),
    }))
}

/** Tests, and what only tests use: fakes, fixtures, shared suites and the `testing` folders. */
export function isTestPath(path: string): boolean {
  return /\.(test|fake|fixture|contract)\.tsx?$|(^|\/)testing\//.test(path)
}

/** Counts from one. */
export function lineAt(text: string, offset: number): number {
  let line = 1
  let at = text.indexOf('\n')
  while (at >= 0 && at < offset) {
    line += 1
    at = text.indexOf('\n', at + 1)
  }
  return line
}

/** The problem of every place where `pattern`, which is global, matches the code of a file. */
export function findInCode(source: CodeSource, pattern: RegExp, text: string): Problem[] {
  return [...source.code.matchAll(pattern)].map((match) => {
    return { path: source.path, line: lineAt(source.text, match.index), text }
  })
}

/** In a linked worktree `.git` is a file. */
const skipped = new Set(['node_modules', '.git', '.cache', 'dist', 'coverage'])

const textNames =
  /\.(ts|tsx|js|mjs|json|md|toml|ya?ml|html|css|sh|lua|py|sql)$|^(run|Dockerfile|\..+)$/

function isText(name: string): boolean {
  return textNames.test(name)
}

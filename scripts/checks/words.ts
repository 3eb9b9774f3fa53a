import { posix } from 'node:path'
import { lineAt, type Problem, type Source } from './sources.ts'

/** Paths that exist on one machine only. */
const machinePath = /(?<![\w.\-/}])\/(?:home|root|work|Users)\/[\w.-]+/g
const parentPath = /(?<![\w.\-/])(?:\.\.\/)+(?:[\w-][\w.-]*)?/g
/** A folder that lies beside the repository. */
const besidePath = /\.\.\/shared\b/g
/** Its recipes show lines of other files, whose paths begin there. */
const quotesSources = /^CONTRIBUTING\.md$/
/** Components are things: they return, send, log, reject. The words stand here as patterns. */
const personalWords = [
  '[Tt]ell(?:s|ing)?',
  '[Tt]old',
  '[Ww]ish(?:es|ed)?',
  '[Rr]emember(?:s|ed)?',
  '[Bb]elieves?',
  '[Ll]ooks? on(?=[,.;:])',
]
const personal = new RegExp(`\\b(?:${personalWords.join('|')})\\b`, 'g')
/** Decisions and the changelog are history; what checks the words must write them. */
const mayPersonify = /^(?:docs\/decisions\/|CHANGELOG\.md$|scripts\/checks\/)|\.txt$/

/** Whatever ties the tree to the machine it was written on, and words that the house avoids. */
export function checkWords(files: readonly Source[], registryHost?: string): Problem[] {
  return files.flatMap((file) => [
    ...find(file, machinePath, 'a path of one machine'),
    ...find(file, besidePath, 'a path outside of the repository'),
    ...(quotesSources.test(file.path)
      ? []
      : find(file, parentPath, 'a path outside of the repository', (path) => leaves(file, path))),
    ...(mayPersonify.test(file.path) ? [] : find(file, personal, 'a word for persons, not things')),
    ...(registryHost && registryHost !== publicRegistry
      ? find(file, new RegExp(RegExp.escape(registryHost), 'g'), 'the host of a private registry')
      : []),
  ])
}

const publicRegistry = 'registry.npmjs.org'

function find(
  { path, text }: Source,
  pattern: RegExp,
  problem: string,
  isBad: (found: string) => boolean = () => true,
): Problem[] {
  return [...text.matchAll(pattern)]
    .filter((match) => isBad(match[0]))
    .map((match) => ({ path, line: lineAt(text, match.index), text: `${problem}: ${match[0]}` }))
}

/** Only imports and links count: a test of path traversal may climb as high as it likes. */
function leaves(file: Source, path: string): boolean {
  if (!file.path.endsWith('.md')) return false
  return posix.join(posix.dirname(file.path), path).startsWith('..')
}

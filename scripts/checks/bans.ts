import { basename } from 'node:path'
import { type CodeSource, findInCode, lineAt, type Problem } from './sources.ts'

/**
 * What the house does without and the linter does not find. It does find `any`, default exports,
 * `export *`, enums and namespaces; here it is seen to that nobody waves them through.
 */
export function checkBans(files: readonly CodeSource[]): Problem[] {
  return files.flatMap((file) => [
    ...bannedCode.flatMap(([pattern, text]) => findInCode(file, pattern, text)),
    ...bannedComments(file),
    ...bannedName(file),
  ])
}

const bannedCode: readonly (readonly [RegExp, string])[] = [
  [/\b\w*(?:Impl|Dto|DTO)\b/g, 'a name that ends in Impl or Dto'],
  [/\b\w+Manager\b/g, 'a name that ends in Manager'],
  [/\b(?:interface|type)\s+I[A-Z][a-z]\w*/g, 'a type with the prefix I'],
]

const waved = 'noExplicitAny|noEnum|noNamespace|noReExportAll|noTsIgnore'
const later = `${['TO', 'FIX'].join('DO|')}ME`
const bannedComment = new RegExp(
  `@ts-(?:ignore|nocheck)|\\b(?:${later})\\b|biome-ignore\\S* lint/\\w+/(?:${waved})`,
  'g',
)

function bannedComments({ path, text, comments }: CodeSource): Problem[] {
  return comments.flatMap((comment) => {
    return [...comment.text.matchAll(bannedComment)].map((match) => {
      return { path, line: lineAt(text, comment.offset + match.index), text: match[0] }
    })
  })
}

function bannedName({ path }: CodeSource): Problem[] {
  const words = path.replace(/\.\w+$/, '').split(/[/.-]/)
  const banned = words.find((word) => /^(?:utils?|helpers?|managers?|impl|dto)$/.test(word))
  const problems = banned ? [{ path, line: 1, text: `a file named for nothing: ${banned}` }] : []
  if (/[A-Z_]/.test(basename(path))) {
    problems.push({ path, line: 1, text: 'a file name that is not in kebab-case' })
  }
  return problems
}

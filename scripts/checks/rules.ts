import { citedIds, readRules } from '../rules/rules.ts'
import { lineAt, type Problem, type Source } from './sources.ts'

/** The rules that tests and documents cite stand in `scripts/rules/rules.txt`, each once. */
export function checkRules(files: readonly Source[]): Problem[] {
  const known = new Set<string>()
  const problems: Problem[] = []
  for (const [index, { id }] of readRules().entries()) {
    if (known.has(id)) {
      problems.push({ path: 'scripts/rules', line: index + 1, text: `${id} stands there twice` })
    }
    known.add(id)
  }
  for (const { path, text } of files) {
    for (const { id, offset } of citedIds(text)) {
      if (known.has(id)) continue
      const line = lineAt(text, offset)
      problems.push({ path, line, text: `${id} is no rule of scripts/rules/rules.txt` })
    }
  }
  return problems
}

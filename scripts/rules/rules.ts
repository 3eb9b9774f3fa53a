import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Source } from '../checks/sources.ts'

/** A rule of the product: what tests and commits cite, in one sentence. */
export type Rule = { area: string; id: string; sentence: string }

/** The ids that may stand in code and documents, e.g. `H-GEN-1`. */
const idPattern = /\b[HLORS]-[A-Z]+-[0-9]+\b/g

/** Every rule in the order of the data file: `# area`, then one line for each rule. */
export function readRules(): Rule[] {
  const rules: Rule[] = []
  let area = ''
  for (const line of readFileSync(join(import.meta.dirname, 'rules.txt'), 'utf8').split('\n')) {
    const space = line.indexOf(' ')
    const [first, rest] = [line.slice(0, space), line.slice(space + 1)]
    if (first === '#') area = rest
    else if (line !== '') rules.push({ area, id: first, sentence: rest })
  }
  return rules
}

/** The ids that a text cites, with the offset of each. */
export function citedIds(text: string): { id: string; offset: number }[] {
  return [...text.matchAll(idPattern)].map((match) => ({ id: match[0], offset: match.index }))
}

/** The folders whose tests cite each rule. */
export function testFolders(files: readonly Source[]): ReadonlyMap<string, ReadonlySet<string>> {
  const folders = new Map<string, Set<string>>()
  for (const { path, text } of files) {
    if (!/\.(test|contract|browser)\.tsx?$/.test(path)) continue
    const folder = path.slice(0, path.lastIndexOf('/'))
    for (const { id } of citedIds(text)) {
      folders.set(id, (folders.get(id) ?? new Set()).add(folder))
    }
  }
  return folders
}

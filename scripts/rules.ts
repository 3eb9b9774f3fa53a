import { join } from 'node:path'
import { readSources } from './checks/sources.ts'
import { readRules, testFolders } from './rules/rules.ts'

/** `npm run rules [ID...]`: the folders with the tests of each rule, or of the rules named. */

const ids = process.argv.slice(2)
const unknown = new Set(ids)
const folders = testFolders(readSources(join(import.meta.dirname, '..')))
for (const { id } of readRules()) {
  if (ids.length > 0 && !unknown.delete(id)) continue
  const found = [...(folders.get(id) ?? [])].sort().join(' ')
  process.stdout.write(`${id} ${found === '' ? '(no test)' : found}\n`)
}
for (const id of unknown) {
  process.stderr.write(`${id} is no rule of scripts/rules/rules.txt\n`)
  process.exitCode = 1
}

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { featureLines, insertLine } from './new-feature/lines.ts'
import { namesOf } from './new-feature/names.ts'
import { featureFiles } from './new-feature/templates.ts'

/**
 * `npm run new-feature NAME`, e.g. `mail`: writes a feature that works, with a table, routes for
 * operators and a test, and the lines by which the tree knows it. Nothing that exists is replaced.
 */
const root = process.cwd()

class Refusal extends Error {}

try {
  const names = namesOf(process.argv[2] ?? '')
  if (names === undefined) throw new Refusal(usage())
  const migration = nextMigration()
  create(featureFiles(names, migration), featureLines(names, migration))
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  process.stderr.write(`new-feature: ${error.message}\n`)
  process.exitCode = 1
}

function create(
  files: ReturnType<typeof featureFiles>,
  lines: ReturnType<typeof featureLines>,
): void {
  const taken = Object.keys(files).find((path) => existsSync(join(root, path)))
  if (taken !== undefined) throw new Refusal(`${taken} is there already`)
  const changed = new Map<string, string>()
  for (const line of lines) {
    const text = changed.get(line.path) ?? readFileSync(join(root, line.path), 'utf8')
    const next = insertLine(text, line)
    if (next === undefined) throw new Refusal(`${line.path} has no line like ${line.near}`)
    changed.set(line.path, next)
  }
  for (const [path, text] of [...Object.entries(files), ...changed]) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    process.stdout.write(`${path}\n`)
  }
  const biome = join(import.meta.dirname, '../node_modules/.bin/biome')
  const written = [...Object.keys(files), ...changed.keys()]
  execFileSync(biome, ['check', '--write', '--log-level=error', ...written], { cwd: root })
  process.stdout.write('next: npm run docs, npm run check, and a crash model for its table\n')
}

/** The number of the migration that comes next. */
function nextMigration(): number {
  const index = readFileSync(join(root, 'packages/server/src/database/migrations/index.ts'), 'utf8')
  return 1 + Math.max(...[...index.matchAll(/'\.\/(\d{4})-/g)].map(([, digits]) => Number(digits)))
}

function usage(): string {
  return 'usage: npm run new-feature NAME, with lower-case words and dashes, e.g. daily-gifts'
}

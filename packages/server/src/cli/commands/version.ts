import { readFileSync } from 'node:fs'
import { migrations } from '../../database/migrations/index.ts'
import { version } from '../../version.ts'
import type { Invocation } from '../arguments.ts'
import { exitCodes, printJson, type Terminal } from '../terminal.ts'

/** Prints what a bug report should say about this binary. */
export function printVersion({ json }: Pick<Invocation, 'json'>, { stdout }: Terminal): number {
  const facts = {
    version,
    commit: commit() ?? 'unknown',
    engine: `node ${process.versions.node}`,
    platform: `${process.platform}-${process.arch}`,
    schema_version: Math.max(0, ...migrations.map(({ number }) => number)),
  }
  if (json) printJson(stdout, facts)
  else stdout.write(`guildhall ${facts.version}\n${factLines(facts)}`)
  return exitCodes.ok
}

function factLines({ version: _, ...facts }: Readonly<Record<string, unknown>>): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('')
}

/** The commit of a checkout; undefined where the product was installed as a package. */
function commit(): string | undefined {
  const repository = new URL('../../../../../.git/', import.meta.url)
  try {
    const head = readFileSync(new URL('HEAD', repository), 'utf8').trim()
    const [, reference] = /^ref: (.+)$/.exec(head) ?? []
    return reference ? readFileSync(new URL(reference, repository), 'utf8').trim() : head
  } catch {
    return undefined
  }
}

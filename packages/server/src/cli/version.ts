import { readFileSync } from 'node:fs'
import type { Invocation } from './arguments.ts'
import { exitCodes, printJson, type Terminal } from './terminal.ts'

/** The version of this binary, e.g. `0.1.0`. */
export function binaryVersion(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  const hasVersion = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return hasVersion ? String(manifest.version) : 'unknown'
}

export async function printVersion(
  { json }: Pick<Invocation, 'json'>,
  { stdout }: Terminal,
): Promise<number> {
  const { migrations } = await import('../database/migrations/index.ts')
  const facts = {
    version: binaryVersion(),
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
  const repository = new URL('../../../../.git/', import.meta.url)
  try {
    const head = readFileSync(new URL('HEAD', repository), 'utf8').trim()
    const [, reference] = /^ref: (.+)$/.exec(head) ?? []
    return reference ? readFileSync(new URL(reference, repository), 'utf8').trim() : head
  } catch {
    return undefined
  }
}

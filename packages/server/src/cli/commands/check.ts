import { resolve } from 'node:path'
import type { LoadedConfig } from '../../config/load.ts'
import { printable, quoted } from '../../config/problem.ts'
import { describeConfig } from '../../config/redact.ts'
import { reasonOf } from '../../kernel/errors/reason.ts'
import { version } from '../../version.ts'
import type { Invocation } from '../arguments.ts'
import { backendOf, isAbsentFile, visitDatabase, whyNotWritable } from '../database-visit.ts'
import type { InspectScript } from '../inspect-script.port.ts'
import { exitCodes, printJson, printLines, type Terminal } from '../terminal.ts'

type Context = { terminal: Terminal; inspectScript: InspectScript | undefined }

/** Says whether a node could start with this configuration, and with `--print` what it is. */
export async function check(
  loaded: LoadedConfig,
  { json, switches }: Invocation,
  { terminal, inspectScript }: Context,
): Promise<number> {
  const { config, warnings } = loaded
  const inspected = (await inspectScript?.(loaded)) ?? { script: 'unchecked' }
  const refused = (problem: string) => {
    if (json) printJson(terminal.stdout, { ok: false, problems: [problem] })
    else printLines(terminal.stderr, [problem])
    return exitCodes.configuration
  }
  if ('problem' in inspected) return refused(inspected.problem)
  const problem = await certificateProblem(loaded, terminal.cwd)
  if (problem !== undefined) return refused(problem)
  const summary = {
    node_id: config.server.node_id,
    http: config.http.bind,
    backend: backendOf(config.database.url),
    script: inspected.script,
  }
  let database: DatabaseReport | undefined
  if (switches.has('--database')) {
    const visited = await inspectDatabase(loaded, terminal)
    if (typeof visited === 'number') return visited
    database = visited
  }
  const entries = switches.has('--print') ? mergedEntries(loaded) : undefined
  if (json) {
    printJson(terminal.stdout, { ok: true, ...summary, warnings, database, entries })
  } else {
    printLines(
      terminal.stderr,
      warnings.map((line) => `warning: ${line}`),
    )
    printLines(terminal.stdout, (entries ?? []).map(entryLine))
    printLines(terminal.stdout, [summaryLine(summary), ...databaseLines(database)])
  }
  return database && database.pending.length > 0 ? exitCodes.schemaNotUsable : exitCodes.ok
}

/** Why a node could not serve with the configured certificate; undefined when it could. */
async function certificateProblem(
  { config }: LoadedConfig,
  cwd: string,
): Promise<string | undefined> {
  const { certificate_file, private_key_file } = config.http.tls
  if (certificate_file === undefined || private_key_file === undefined) return undefined
  const [{ readCertificate }, { createSystemClock }] = await Promise.all([
    import('../../kernel/http/connection/certificates.ts'),
    import('../../kernel/clock.ts'),
  ])
  const files = {
    certificate_file: resolve(cwd, certificate_file),
    private_key_file: resolve(cwd, private_key_file),
  }
  try {
    await readCertificate(files, createSystemClock())
    return undefined
  } catch (error) {
    return `http.tls: ${printable(reasonOf(error))}`
  }
}

type Entry = { key: string; value: string; source: string }
type DatabaseReport = {
  schema_version: number
  pending: readonly string[]
  /** How far the database's clock is ahead of this machine's; on SQLite it is this machine's. */
  clock_ahead_ms: number
}

function mergedEntries({ config, sources }: LoadedConfig): Entry[] {
  return describeConfig(config).flatMap(({ name, entries }) =>
    entries.map(({ key, value }) => {
      const full = `${name}.${key}`
      return { key: full, value, source: sources.get(full)?.text ?? 'default' }
    }),
  )
}

/** Answers with an exit code when the database could not be looked at. */
async function inspectDatabase(
  loaded: LoadedConfig,
  terminal: Terminal,
): Promise<DatabaseReport | number> {
  const { migrations } = await import('../../database/migrations/index.ts')
  const { url } = loaded.config.database
  if (backendOf(url) === 'in-memory') {
    return { schema_version: migrations.length, pending: [], clock_ahead_ms: 0 }
  }
  const problem = whyNotWritable(url, terminal.cwd)
  if (problem !== undefined) {
    printLines(terminal.stderr, [`guildhall: ${printable(problem)}`])
    return exitCodes.failure
  }
  if (isAbsentFile(url, terminal.cwd)) {
    return { schema_version: 0, pending: migrations.map(({ name }) => name), clock_ahead_ms: 0 }
  }
  const [{ pendingMigrations }, { databaseNow }, { createClockWatch }] = await Promise.all([
    import('../../database/migrations/migrate.ts'),
    import('../../database/reads/stored-time.ts'),
    import('../../kernel/time/clock-watch.ts'),
  ])
  let report: DatabaseReport | undefined
  const code = await visitDatabase(loaded, { terminal, access: 'read' }, async (visit) => {
    const { db } = visit
    const { applied, pending } = await pendingMigrations(db, { version })
    const clock_ahead_ms = await createClockWatch(visit).compare(() => databaseNow(db))
    const names = pending.map(({ name }) => name)
    report = { schema_version: applied, pending: names, clock_ahead_ms }
    return exitCodes.ok
  })
  return report ?? code
}

function entryLine({ key, value, source }: Entry): string {
  return `${key} = ${safe(value)}  # ${source}`
}

function summaryLine(summary: Readonly<Record<string, string>>): string {
  const facts = Object.entries(summary).map(([name, value]) => `${name}=${safe(value)}`)
  return `config ok: ${facts.join(' ')}`
}

function databaseLines(database: DatabaseReport | undefined): string[] {
  if (!database) return []
  const { schema_version, pending, clock_ahead_ms } = database
  const names = pending.length > 0 ? `: ${pending.join(', ')}` : ''
  return [
    `database ok: schema version ${schema_version}, ${pending.length} pending${names}`,
    `database clock: ${Math.abs(clock_ahead_ms)} ms ${clock_ahead_ms < 0 ? 'behind' : 'ahead'}`,
  ]
}

/** Values that could break the line are quoted. */
function safe(value: string): string {
  return /^[\P{C}]*$/u.test(value) ? value : quoted(value)
}

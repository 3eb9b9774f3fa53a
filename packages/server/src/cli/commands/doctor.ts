import type { LoadedConfig } from '../../config/load.ts'
import { quoted } from '../../config/problem.ts'
import { suggest } from '../../config/suggestion.ts'
import type { Diagnosis } from '../../doctor/doctor.ts'
import { version } from '../../version.ts'
import type { Invocation } from '../arguments.ts'
import { visitDatabase, whyNotReadable } from '../database-visit.ts'
import { exitCodes, printJson, printLines, refuse, type Terminal } from '../terminal.ts'

const examplesDefault = 10
const examplesMax = 10_000

/** Verifies the invariants of the store and changes nothing. */
export async function doctor(
  loaded: LoadedConfig,
  { json, values }: Invocation,
  terminal: Terminal,
): Promise<number> {
  const examples = limitOf(values.get('--limit'))
  if (examples === undefined) return refuse(terminal, `--limit takes a number of 0..${examplesMax}`)
  const reason = whyNotReadable(loaded.config.database.url, terminal.cwd)
  if (reason !== undefined) return refuse(terminal, reason)

  const [{ checkNames, diagnose }, { deploymentChecks }] = await Promise.all([
    import('../../doctor/doctor.ts'),
    import('../../node/features/deployment-checks.ts'),
  ])
  const access = { terminal, access: 'read', refused: exitCodes.configuration } as const
  return visitDatabase(loaded, access, async (visit) => {
    const checks = deploymentChecks({ ...visit, config: loaded.config, version })
    const only = selected(values.get('--only'), checkNames(checks))
    if (typeof only === 'string') return refuse(terminal, only)
    const deps = { db: visit.db, version, checks }
    const onBegun = (name: string, { number, of }: { number: number; of: number }) => {
      if (!json) printLines(terminal.stderr, [`checking ${name} (${number} of ${of})`])
    }
    const onDiagnosed = (diagnosis: Diagnosis) => {
      if (!json) printLines(terminal.stdout, linesOf(diagnosis))
    }
    const options = { only, examplesMax: examples, onBegun, onDiagnosed }
    const diagnoses = await diagnose(deps, options)
    const ok = diagnoses.every((diagnosis) => diagnosis.ok)
    if (json) printJson(terminal.stdout, { ok, checks: diagnoses })
    return ok ? exitCodes.ok : exitCodes.failure
  })
}

function selected(given: string | undefined, names: readonly string[]): readonly string[] | string {
  if (given === undefined) return names
  const wanted = given.split(',').map((name) => name.trim())
  const stranger = wanted.find((name) => !names.some((known) => known === name))
  if (stranger === undefined) return names.filter((name) => wanted.includes(name))
  const nearest = suggest(stranger, names)
  const hint = nearest === undefined ? `: ${names.join(', ')}` : `; did you mean "${nearest}"?`
  return `unknown check ${quoted(stranger)}${hint}`
}

function limitOf(given: string | undefined): number | undefined {
  if (given === undefined) return examplesDefault
  const limit = /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN
  return limit <= examplesMax ? limit : undefined
}

function linesOf({ name, ok, rows, violations, examples }: Diagnosis): string[] {
  const verdict = (ok ? 'ok' : 'FAILED').padEnd(7)
  return [
    `${verdict}${name.padEnd(12)}rows=${rows} violations=${violations}`,
    ...examples.map(({ rule, id }) => `       ${quoted(id)}: ${rule}`),
  ]
}

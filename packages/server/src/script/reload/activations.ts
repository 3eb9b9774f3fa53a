import type { ScriptActivation } from '@guildhall/contract'
import type { Clock } from '../../kernel/clock.ts'
import type { ErrorJournal } from '../../kernel/errors/error-journal.ts'
import type { Log } from '../../kernel/log/log.ts'
import { ScriptLoadError } from '../process/load-error.ts'
import type { FailuresView } from '../view/failures-view.ts'
import { revisionId, type ScriptFile } from '../wire/revision.ts'
import { excerpt } from './excerpt.ts'

type Deps = {
  clock: Clock
  log: Log
  journal: Pick<ErrorJournal, 'record'>
  view: Pick<FailuresView, 'activated'>
  /** Whether somebody is at work on the script: then its lines are shown with their source. */
  showsSource: boolean
}

/** Why a script is loaded, and since when. */
export type Start = { readonly reason: ScriptActivation['reason']; readonly startedMs: number }

/** What serves after it. */
type Serving = { readonly revision_id: string | null; readonly generation: number }

type Rejection = {
  readonly problem: unknown
  /** What is known of the content that is rejected. */
  readonly content: readonly ScriptFile[]
  readonly files: readonly string[]
  /** That of the script that goes on. */
  readonly generation: number
}

/** So many rejected contents are kept, to be shown once. */
const contentsMax = 1_000

/** Shows operators which scripts began to serve, and which did not: each content once. */
export function createActivations({ clock, log, journal, view, showsSource }: Deps) {
  const rejected = new Set<string>()

  function add(
    { reason, startedMs }: Start,
    what: Omit<ScriptActivation, 'at_unix_ms' | 'reason' | 'duration_ms'>,
  ): ScriptActivation {
    const duration_ms = Math.round(clock.monotonicMs() - startedMs)
    const activation = { at_unix_ms: clock.nowUnixMs(), reason, duration_ms, ...what }
    view.activated(activation)
    return activation
  }

  return {
    begin: (reason: Start['reason']): Start => ({ reason, startedMs: clock.monotonicMs() }),

    active(
      start: Start,
      { revision_id, generation }: Serving,
      files: readonly string[] = [],
    ): ScriptActivation {
      const what = { revision_id, generation, files: [...files] }
      const activation = add(start, { outcome: 'active', problem: null, ...what })
      const { reason, duration_ms } = activation
      const fields = { revision_id, generation, reason, ...shown(files), duration_ms }
      log.info('the script serves', fields)
      return activation
    },

    rejected(start: Start, { problem, content, files, generation }: Rejection): ScriptActivation {
      const revision_id = content.length === 0 ? null : revisionId(content)
      const text = problem instanceof Error ? problem.message : String(problem)
      const about = { revision_id, generation, files: [...files], problem: text }
      const key = revision_id ?? text
      if (!rejected.has(key)) {
        if (rejected.size < contentsMax) rejected.add(key)
        const { reason } = start
        const duration_ms = Math.round(clock.monotonicMs() - start.startedMs)
        const fields = { reason, revision_id, generation, ...shown(files), duration_ms }
        const source = showsSource ? sourceOf(problem, content) : undefined
        const place = `a rejected script, ${key}`
        const more = { ...fields, problem: text, source }
        journal.record({ category: 'script', component: 'script', place, fields: more })
      }
      return add(start, { outcome: 'rejected', ...about })
    },
  }
}

export type Activations = ReturnType<typeof createActivations>

function shown(files: readonly string[]): { files?: readonly string[] } {
  return files.length === 0 ? {} : { files }
}

function sourceOf(problem: unknown, content: readonly ScriptFile[]): string | undefined {
  if (!(problem instanceof ScriptLoadError) || problem.file === undefined) return undefined
  return excerpt(content, problem.file, problem.line)
}

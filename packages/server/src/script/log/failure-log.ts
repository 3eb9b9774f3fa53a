import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { ScriptMetrics } from '../metrics.ts'
import type { FailureCause, HandlerName } from './handler-failure.ts'
import { createLineLimiter } from './line-limiter.ts'

type FailureLogDeps = {
  clock: Clock
  log: Log
  metrics: Pick<ScriptMetrics, 'interrupts'>
  /** The lines around a place of the script, if they are to be shown. */
  sourceAt(revision_id: string, place: string): string | undefined
}

/** A handler that failed, and the revision that it is of. */
export type Failed = HandlerName & FailureCause & { readonly revision_id: string }

/** Logs handlers that fail or take too long: so many lines a second, and how many were left out. */
export function createFailureLog({ clock, log, metrics, sourceAt }: FailureLogDeps) {
  const limitLines = createLineLimiter(clock)
  return (failed: Failed): void => {
    if (failed.kind === 'interrupted') metrics.interrupts += 1
    limitLines((omitted) => {
      log.warn(messages[failed.kind], {
        ...handlerFields(failed),
        ...errorFields(failed),
        revision_id: failed.revision_id,
        source: failed.place === null ? undefined : sourceAt(failed.revision_id, failed.place),
        ...(omitted === 0 ? {} : { omitted_lines: omitted }),
      })
    })
  }
}

const messages = {
  error: 'a script handler failed',
  interrupted: 'a script handler was interrupted at its deadline',
  too_long: 'a script handler took too long',
  too_large: 'a script handler returned too much',
} as const

function handlerFields({ hook, name }: HandlerName) {
  if (hook === 'on_rpc') return { hook, method: name }
  return hook === 'on_message' ? { hook, kind: Number(name) } : { hook }
}

function errorFields({ kind, reason, place }: FailureCause) {
  if (kind === 'interrupted' || kind === 'too_long') return {}
  return { ...(place === null ? {} : { at: place }), reason }
}

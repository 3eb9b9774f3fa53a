import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { ScriptMetrics } from '../metrics.ts'
import type { CallRecord } from '../wire/call-records.ts'
import { hookCode, hookNameOf } from '../wire/hooks.ts'
import type { FailedRun } from '../wire/output-records.ts'
import { createLineLimiter } from './line-limiter.ts'

type FailureLogDeps = {
  clock: Clock
  log: Log
  metrics: Pick<ScriptMetrics, 'interrupts'>
  deadlineMs: number
}

/** A call that failed, and the revision that it ran in. */
type Failed = { record: CallRecord; revisionId: string | null }

/** Logs handlers that fail or take too long: so many lines a second, and how many were left out. */
export function createFailureLog({ clock, log, metrics, deadlineMs }: FailureLogDeps) {
  const limitLines = createLineLimiter(clock)

  function logError(failed: Failed, text: string): void {
    const [at, ...message] = text.split('\n')
    limitLines((omitted) => {
      log.warn('a script handler failed', {
        ...placeOf(failed),
        ...(at === '' ? {} : { at }),
        reason: message.join('\n'),
        ...restOf(failed, omitted),
      })
    })
  }

  function logTimeout(failed: Failed, cpuUs: number): void {
    const isTick = failed.record.hook === hookCode.on_tick
    const interrupted = cpuUs >= deadlineMs * 1000 || isTick
    if (interrupted) metrics.interrupts += 1
    limitLines((omitted) => {
      log.warn(
        interrupted
          ? 'a script handler was interrupted at its deadline'
          : 'a script handler took too long',
        { ...placeOf(failed), ...restOf(failed, omitted) },
      )
    })
  }

  return (failed: Failed, { status, text, cpuUs }: FailedRun): void => {
    if (status === 'error') logError(failed, text ?? '')
    if (status === 'timed_out') logTimeout(failed, cpuUs)
  }
}

function placeOf({ record: { hook, text, detail } }: Failed) {
  return {
    hook: hookNameOf(hook),
    ...(hook === hookCode.on_rpc ? { method: text } : {}),
    ...(hook === hookCode.on_message ? { kind: detail } : {}),
  }
}

/** What a reader of the line looks at last. */
function restOf({ revisionId }: Failed, omitted: number) {
  return { revision_id: revisionId, ...(omitted === 0 ? {} : { omitted_lines: omitted }) }
}

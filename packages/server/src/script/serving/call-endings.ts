import type { ScriptConfig } from '../config.ts'
import {
  causeOf,
  causeOfText,
  type FailureCause,
  handlerOf,
  tooLong,
} from '../log/handler-failure.ts'
import type { ScriptMetrics } from '../metrics.ts'
import type { FailuresView } from '../view/failures-view.ts'
import { protocolTimes } from '../wire/limits.ts'
import type { DoneRecord, FailedRun } from '../wire/output-records.ts'
import type { OpenCall } from './call-batches.ts'

type Deps = {
  config: Pick<ScriptConfig, 'deadline_ms'>
  metrics: Pick<ScriptMetrics, 'countRun'>
  view: Pick<FailuresView, 'handlerFailed' | 'callEnded'>
  /** Of the script that the calls are made to. */
  revision: () => string
}

/** Reports to operators how calls ended: what they cost, and why they failed. */
export function createCallEndings({ config, metrics, view, revision }: Deps) {
  function report({ record }: OpenCall, cause: FailureCause): void {
    view.handlerFailed({ ...handlerOf(record), ...cause, revision_id: revision() })
  }

  function reportRun(open: OpenCall, run: FailedRun): FailureCause | undefined {
    const cause = causeOf(open.record, run, config.deadline_ms)
    if (cause !== undefined) report(open, cause)
    return cause
  }

  return {
    /** The worker is done with a call; the cause of one that failed. */
    done(open: OpenCall, { status, text, cpuUs }: DoneRecord): FailureCause | undefined {
      view.callEnded(open.record, cpuUs)
      return reportRun(open, { status, text, cpuUs })
    },
    /** One run of a tick has failed; the others go on. */
    runFailed(open: OpenCall, run: FailedRun): void {
      metrics.countRun(run.status)
      reportRun(open, run)
    },
    /** A view of a room's state has failed, which no call waits for. */
    faulted(name: string, text: string): void {
      view.handlerFailed({ hook: 'room', name, ...causeOfText(text), revision_id: revision() })
    },
    /** It took too long, as the node has it. */
    gaveUp: (open: OpenCall) => report(open, tooLong),
  }
}

/**
 * The calls that have lasted too long although the worker was to give them up, in the order in
 * which they were sent. A call may have had to wait there for those ahead of it.
 */
export function lateCalls(
  open: Iterable<OpenCall>,
  { nowMs, timeoutMs }: { nowMs: number; timeoutMs: number },
): OpenCall[] {
  const late: OpenCall[] = []
  for (const call of open) {
    if (call.begunMs === undefined) break
    const limitMs = timeoutMs * (1 + call.ahead) + protocolTimes.graceMs
    if (nowMs - call.begunMs >= limitMs) late.push(call)
  }
  return late
}

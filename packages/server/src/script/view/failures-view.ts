import type { ScriptFailures } from '@guildhall/contract'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import { createFailureLog, type Failed } from '../log/failure-log.ts'
import type { ScriptMetrics } from '../metrics.ts'
import { createActivationList } from './activation-list.ts'
import { createCpuUse } from './cpu-use.ts'
import { createFailureList } from './failure-list.ts'

type Deps = {
  clock: Clock
  log: Log
  metrics: Pick<ScriptMetrics, 'interrupts'>
  /** The lines around a place `FILE:LINE`, where somebody is at work on the script. */
  sourceAt(revision_id: string, place: string): string | undefined
}

/** What operators see of a script that fails, is loaded again, or costs much. */
export function createFailuresView(deps: Deps) {
  const logFailure = createFailureLog(deps)
  const failures = createFailureList(deps.clock)
  const activations = createActivationList()
  const cpuUse = createCpuUse(deps.clock)
  return {
    handlerFailed(failed: Failed): void {
      logFailure(failed)
      failures.record(failed)
    },
    callEnded: cpuUse.add,
    activated: activations.add,
    show: (): ScriptFailures => ({
      items: failures.items(),
      reloads: activations.items(),
      dearest: cpuUse.dearest(),
    }),
    cpuSeries: cpuUse.series,
    stop: cpuUse.stop,
  }
}

export type FailuresView = ReturnType<typeof createFailuresView>

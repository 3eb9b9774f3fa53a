import type { LagOutcome } from '@guildhall/contract'
import type { Database } from '../../../database/database.ts'
import type { Log } from '../../../kernel/log/log.ts'
import { resultTexts } from '../reports/report-of.ts'
import { type PendingReport, reportsStore } from '../reports/reports.store.ts'
import type { RawStore } from '../uploads/raw-store.ts'
import type { AnalysisJob, AnalysisReply, AnalysisThread } from './analysis-thread.ts'
import type { Filter } from './records.ts'

export type AnalysisQueueDeps = {
  db: Database
  log: Log
  nodeId: string
  raw: Pick<RawStore, 'pathOf'>
  thread: AnalysisThread
  /** Bound of a recording when it is unpacked, header included. */
  bytesMax: number
}

/** How often a run is made that fails for a reason which may pass. */
const runsMax = 3

/**
 * The reports that wait for this node. They are rows, so that a restart takes them up again, and
 * one is analysed at a time, the oldest first.
 *
 * | from    | event                                   | to                                     |
 * |---------|-----------------------------------------|----------------------------------------|
 * | pending | a run ends                              | no_data, partial, complete or failed   |
 * | pending | the bytes are gone before a run         | failed                                 |
 * | pending | a run fails and may succeed another time | pending, three times in all           |
 */
export function createAnalysisQueue(deps: AnalysisQueueDeps) {
  const { db, log, nodeId, thread } = deps
  /** Who waits for reports, by id. */
  const waiting = new Map<string, Set<(status: LagOutcome) => void>>()

  async function finish(
    report_id: string,
    status: LagOutcome,
    texts: { result_json: string | null; windows_json: string | null } = none,
  ): Promise<void> {
    await reportsStore.finish(db, { report_id, status, ...texts })
    const known = waiting.get(report_id)
    waiting.delete(report_id)
    for (const settle of known ?? []) settle(status)
  }

  async function run(report: PendingReport): Promise<void> {
    const { report_id, handle } = report
    if (report.available !== 1 || report.filters_json === null) return finish(report_id, 'failed')
    const reply = await attempt(handle, report)
    if (reply.ok) return finish(report_id, reply.analysis.outcome, resultTexts(reply.analysis))
    const { isTransient, reason } = reply
    log.warn('a lag recording could not be analysed', { report_id, reason })
    if (isTransient && report.runs + 1 < runsMax) await reportsStore.countRun(db, report_id)
    else await finish(report_id, 'failed')
  }

  async function attempt(handle: string, report: PendingReport): Promise<AnalysisReply> {
    const { participant, send_rate_hz, max_windows, filters_json } = report
    const filters: Filter[] = JSON.parse(filters_json ?? '[]')
    try {
      const path = await deps.raw.pathOf(handle)
      const options = { send_rate_hz, max_windows }
      const job: AnalysisJob = { path, bytesMax: deps.bytesMax, filters, participant, options }
      return await thread.run(job)
    } catch (error) {
      return { ok: false, isTransient: true, reason: String(error) }
    }
  }

  return {
    /** Analyses what waits, until nothing does. */
    async runAll({ signal, progress }: { signal: AbortSignal; progress(): void }): Promise<void> {
      while (!signal.aborted) {
        const report = await reportsStore.next(db, nodeId)
        if (report === undefined) return
        await run(report)
        progress()
      }
    },

    /** Resolves with what the report comes to, and with undefined when `stop` is called first. */
    outcomeOf(reportId: string): { outcome: Promise<LagOutcome | undefined>; stop(): void } {
      const { promise: outcome, resolve } = Promise.withResolvers<LagOutcome | undefined>()
      const known = waiting.get(reportId) ?? new Set()
      waiting.set(reportId, known.add(resolve))
      const stop = () => {
        known.delete(resolve)
        if (known.size === 0 && waiting.get(reportId) === known) waiting.delete(reportId)
        resolve(undefined)
      }
      return { outcome, stop }
    },
  }
}

export type AnalysisQueue = ReturnType<typeof createAnalysisQueue>

const none = { result_json: null, windows_json: null }

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
 * | pending | the node stops during a run             | pending                                |
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

  /** Whether the one behind it may be taken; else all wait for the next pass. */
  async function run(report: PendingReport): Promise<boolean> {
    const { report_id, available, filters_json, runs } = report
    if (available !== 1 || filters_json === null) {
      await finish(report_id, 'failed')
      return true
    }
    const failure = await analyse(report, JSON.parse(filters_json))
    if (failure === 'stopped') return false
    if (failure === undefined) return true
    const { isTransient, reason } = failure
    log.warn('a lag recording could not be analysed', { report_id, reason })
    if (isTransient && runs + 1 < runsMax) {
      await reportsStore.countRun(db, report_id)
      return false
    }
    await finish(report_id, 'failed')
    return true
  }

  /** Makes a run and stores what it comes to; answers why it did not. */
  async function analyse(
    { report_id, handle, participant, send_rate_hz, max_windows }: PendingReport,
    filters: readonly Filter[],
  ): Promise<Failed | 'stopped' | undefined> {
    try {
      const path = await deps.raw.pathOf(handle)
      const options = { send_rate_hz, max_windows }
      const job: AnalysisJob = { path, bytesMax: deps.bytesMax, filters, participant, options }
      const reply = await thread.run(job)
      if (reply === undefined) return 'stopped'
      if (!reply.ok) return reply
      await finish(report_id, reply.analysis.outcome, resultTexts(reply.analysis))
      return undefined
    } catch (error) {
      return { ok: false, isTransient: true, reason: String(error) }
    }
  }

  return {
    /** Analyses what waits, until nothing does or a failure has to pass. */
    async runAll({ signal, progress }: { signal: AbortSignal; progress(): void }): Promise<void> {
      while (!signal.aborted) {
        const report = await reportsStore.next(db, nodeId)
        if (report === undefined) return
        const goesOn = await run(report)
        progress()
        if (!goesOn) return
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

type Failed = Extract<AnalysisReply, { ok: false }>

export type AnalysisQueue = ReturnType<typeof createAnalysisQueue>

const none = { result_json: null, windows_json: null }

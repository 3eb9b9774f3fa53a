import { Worker } from 'node:worker_threads'
import type { Clock } from '../../../kernel/clock.ts'
import type { Analysis, AnalysisOptions } from './analyze.ts'
import type { Filter } from './records.ts'

/** What one run is given. */
export type AnalysisJob = {
  path: string
  /** Bound of the recording when it is unpacked. */
  bytesMax: number
  filters: readonly Filter[]
  participant: number
  options: AnalysisOptions
}

export type AnalysisReply =
  | { ok: true; analysis: Analysis }
  /** A transient failure may not come again. */
  | { ok: false; isTransient: boolean; reason: string }

/** The longest that one run may take, in milliseconds. */
const runMs = 30_000

/** Runs the analysis on a thread of its own, one recording after another. */
export type AnalysisThread = {
  /** Undefined when it was stopped before it had a result. */
  run(job: AnalysisJob): Promise<AnalysisReply | undefined>
  stop(): Promise<void>
}

export function createAnalysisThread(clock: Clock): AnalysisThread {
  let worker: Worker | undefined
  let isStopped = false

  async function run(job: AnalysisJob): Promise<AnalysisReply | undefined> {
    if (isStopped) return undefined
    const own = new Worker(new URL('./analysis.worker.ts', import.meta.url), {
      name: 'lag-analysis',
      workerData: job,
      execArgv: [],
      env: {},
    })
    worker = own
    const limit = clock.after(runMs, () => void own.terminate())
    try {
      const reply = await replyOf(own)
      return isStopped && !reply.ok ? undefined : reply
    } finally {
      limit.cancel()
      worker = undefined
    }
  }

  return {
    run,
    async stop() {
      isStopped = true
      await worker?.terminate()
    },
  }
}

function replyOf(worker: Worker): Promise<AnalysisReply> {
  return new Promise((resolve) => {
    const fail = (reason: string) => resolve({ ok: false, isTransient: false, reason })
    worker.on('message', resolve)
    worker.on('error', (error) => fail(String(error)))
    worker.on('exit', () => fail('the run took too long or its thread ended'))
  })
}

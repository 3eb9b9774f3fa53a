import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../../kernel/clock.ts'
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
/** How long the thread waits for another recording, in milliseconds: a start costs the node. */
const restMs = 10_000

/** Runs the analysis on a thread of its own, one recording after another. */
export type AnalysisThread = {
  /** Undefined when it was stopped before it had a result. */
  run(job: AnalysisJob): Promise<AnalysisReply | undefined>
  stop(): Promise<void>
}

export function createAnalysisThread(clock: Clock, startWorker = startThread): AnalysisThread {
  let worker: Worker | undefined
  let rest: Timer | undefined
  let isStopped = false

  function start(): Worker {
    const started = startWorker()
    const gone = () => {
      if (worker === started) worker = undefined
    }
    return started.once('error', gone).once('exit', gone)
  }

  async function end(): Promise<void> {
    const ended = worker
    worker = undefined
    await ended?.terminate()
  }

  return {
    async run(job) {
      if (isStopped) return undefined
      rest?.cancel()
      worker ??= start()
      const own = worker
      own.ref()
      const limit = clock.after(runMs, () => void end())
      own.postMessage(job)
      const reply = await replyOf(own)
      limit.cancel()
      own.unref()
      if (isStopped) return reply.ok ? reply : undefined
      rest = clock.after(restMs, () => void end())
      return reply
    },
    async stop() {
      isStopped = true
      rest?.cancel()
      await end()
    },
  }
}

export function startThread(): Worker {
  const program = new URL('./analysis.worker.ts', import.meta.url)
  return new Worker(program, { name: 'lag-analysis', execArgv: [], env: {} })
}

function replyOf(worker: Worker): Promise<AnalysisReply> {
  const { promise, resolve } = Promise.withResolvers<AnalysisReply>()
  const fail = (reason: string) => resolve({ ok: false, isTransient: false, reason })
  const failed = (error: unknown) => fail(String(error))
  const exited = () => fail('the run took too long or its thread ended')
  worker.on('message', resolve).on('error', failed).on('exit', exited)
  return promise.finally(() => {
    worker.off('message', resolve).off('error', failed).off('exit', exited)
  })
}

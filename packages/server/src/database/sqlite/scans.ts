import { Worker } from 'node:worker_threads'
import { DatabaseUnavailable } from '../database.ts'
import type { Columns, Row, Statement } from '../statement.ts'
import { classified } from './errors.ts'
import type { ScanAnswer, ScanRequest } from './scan.worker.ts'

type ScansDeps = { path: string; nowUnixMs: () => number }

/**
 * Runs statements that read a large part of the file on a thread of their own, one after another:
 * what takes half a second there would stop every player for as long here.
 */
export class Scans {
  readonly #deps: ScansDeps
  readonly #waiting = new Map<number, PromiseWithResolvers<Row<Columns>[]>>()
  #worker: Worker | undefined
  #asked = 0

  constructor(deps: ScansDeps) {
    this.#deps = deps
  }

  /** The rows of one committed state, no older than this call. */
  async all<R extends Columns>(
    statement: Statement<Columns, R>,
    params: object,
  ): Promise<Row<R>[]> {
    this.#asked += 1
    const answer = Promise.withResolvers<Row<Columns>[]>()
    this.#waiting.set(this.#asked, answer)
    const request: ScanRequest = {
      number: this.#asked,
      statement,
      params,
      nowUnixMs: this.#deps.nowUnixMs(),
    }
    this.#worker ??= this.#createWorker()
    this.#worker.postMessage(request)
    return (await answer.promise) as Row<R>[]
  }

  /** Ends the thread once it has answered what it was asked. */
  async close(): Promise<void> {
    const worker = this.#worker
    if (!worker) return
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    worker.ref()
    worker.postMessage('close')
    await ended
  }

  #createWorker(): Worker {
    const url = new URL('./scan.worker.ts', import.meta.url)
    const worker = new Worker(url, { workerData: this.#deps.path, execArgv: [], env: {} })
    worker.unref()
    worker.on('message', (answer: ScanAnswer) => this.#answered(answer))
    worker.on('error', (error) => this.#ended(worker, error))
    worker.on('exit', () => this.#ended(worker, undefined))
    return worker
  }

  #answered({ number, rows, failure }: ScanAnswer): void {
    const waiting = this.#waiting.get(number)
    this.#waiting.delete(number)
    if (failure === undefined) waiting?.resolve(rows)
    else waiting?.reject(classified(Object.assign(new Error(failure.message), failure)))
  }

  #ended(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const error = new DatabaseUnavailable('the thread that scans the file has ended', { cause })
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

import { Worker } from 'node:worker_threads'
import { DatabaseUnavailable } from '../database.ts'
import type { Numbered } from './answer-questions.ts'

/**
 * A thread with a connection of its own, which answers questions in their order. The first question
 * starts it, and so does the first one after it has died.
 */
export class Thread<Question, Answer> {
  readonly #file: URL
  readonly #workerData: unknown
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer>>()
  #worker: Worker | undefined
  #asked = 0

  /** `file` is the module that the thread runs; it calls `answerQuestions`. */
  constructor(file: URL, workerData: unknown) {
    this.#file = file
    this.#workerData = workerData
  }

  /** @throws DatabaseUnavailable when the thread dies before it has answered */
  ask(content: Question): Promise<Answer> {
    this.#worker ??= this.#start()
    this.#asked += 1
    const answer = Promise.withResolvers<Answer>()
    this.#waiting.set(this.#asked, answer)
    this.#worker.postMessage({ number: this.#asked, content } satisfies Numbered<Question>)
    return answer.promise
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

  #start(): Worker {
    const worker = new Worker(this.#file, { workerData: this.#workerData, execArgv: [], env: {} })
    worker.unref()
    worker.on('message', ({ number, content }: Numbered<Answer>) => {
      this.#waiting.get(number)?.resolve(content)
      this.#waiting.delete(number)
    })
    worker.on('error', (error) => this.#ended(worker, error))
    worker.on('exit', () => this.#ended(worker, undefined))
    return worker
  }

  #ended(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const error = new DatabaseUnavailable('a thread of the database file has ended', { cause })
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

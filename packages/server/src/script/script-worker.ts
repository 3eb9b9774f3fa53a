import type { Readable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import { type Control, createControl, runningCall } from './control.ts'
import { protocolTimes } from './limits.ts'
import { createLineLimiter, createLineSplitter } from './line-limiter.ts'
import { ScriptLoadError } from './load-error.ts'
import {
  type FromWorker,
  type OutputBatch,
  parseFromWorker,
  type ToWorker,
  type WorkerSettings,
} from './protocol.ts'
import { createWatch, type Watch } from './watch.ts'

/** Why a worker is gone. `running` is the call that the engine could not interrupt, if any. */
export type WorkerEnd = { readonly reason: string; readonly running: number | undefined }

export type Loaded = FromWorker & { type: 'loaded' }

type ScriptWorkerDeps = {
  url: URL
  settings: Omit<WorkerSettings, 'control'>
  environment: NodeJS.ProcessEnv
  memoryMb: number
  loadTimeoutMs: number
  clock: Clock
  log: Log
  /** Handles a batch; false when its records are malformed. */
  output: (batch: OutputBatch) => boolean
  /** Told once when the worker ends without having been stopped. */
  ended: (end: WorkerEnd) => void
}

/**
 * One worker thread from the main thread's side: its start, its messages, its health, its end.
 * Whatever the worker does, the worst that comes of it here is one call of `ended`.
 */
export class ScriptWorker {
  readonly #deps: ScriptWorkerDeps
  readonly #control: Control
  readonly #worker: Worker
  readonly #watch: Watch
  readonly #timers = new Set<Timer>()
  readonly #online = deferred<void>()
  readonly #loaded = deferred<Loaded>()
  readonly #ponged = deferred<void>()
  #state: 'starting' | 'serving' | 'ended' = 'starting'
  #crash: string | undefined

  constructor(deps: ScriptWorkerDeps) {
    this.#deps = deps
    const { control, shared } = createControl()
    this.#control = control
    this.#worker = new Worker(deps.url, {
      name: 'script',
      workerData: { ...deps.settings, control: shared } satisfies WorkerSettings,
      env: deps.environment,
      argv: [],
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: deps.memoryMb },
    })
    this.#worker.on('message', (message: unknown) => this.#receive(message))
    this.#worker.on('messageerror', () => this.#fail('it sent a message that cannot be read'))
    this.#worker.on('error', (error: Error) => {
      this.#crash = error.message
    })
    this.#worker.on('exit', (code) => this.#fail(this.#crash ?? `it exited with code ${code}`))
    this.#print(this.#worker.stdout, 'info')
    this.#print(this.#worker.stderr, 'error')
    this.#watch = createWatch({
      control,
      clock: deps.clock,
      deadlineMs: Math.max(deps.settings.deadlineMs, deps.settings.tickDeadlineMs),
      post: (message) => this.post(message),
      unresponsive: (reason) => this.#fail(reason),
    })
  }

  /** Loads the script and answers a first ping. Rejects with a `ScriptLoadError`. */
  async load(request: ToWorker & { type: 'load' }): Promise<Loaded> {
    try {
      await this.#within(this.#online, protocolTimes.engineStartMs, 'the engine did not start')
      this.post(request)
      const { loadTimeoutMs } = this.#deps
      const tooLong = `the top level ran longer than ${loadTimeoutMs} ms`
      const loaded = await this.#within(this.#loaded, loadTimeoutMs, tooLong, request.entry)
      this.post({ type: 'ping', n: 0 })
      await this.#within(this.#ponged, protocolTimes.pongWithinMs, 'the script does not respond')
      if (this.#state === 'starting') this.#state = 'serving'
      this.#watch.start()
      return loaded
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  post(message: ToWorker, moved: ArrayBuffer[] = []): void {
    if (this.#state !== 'ended') this.#worker.postMessage(message, moved)
  }

  /** Calls wait inside the worker: it must answer pings soon, and look at its timeouts. */
  setOpenCalls(open: boolean): void {
    this.#watch.setOpenCalls(open)
  }

  /** Makes the worker look for calls that have lasted too long. */
  ping(): void {
    this.#watch.ping()
  }

  /** Ends the thread; `ended` is not called any more. */
  async stop(): Promise<void> {
    this.#close()
    await this.#worker.terminate()
  }

  #receive(message: unknown): void {
    if (this.#state === 'ended') return
    const parsed = parseFromWorker(message)
    if (!parsed) this.#fail('it sent a malformed message')
    else this.#take(parsed)
  }

  #take(message: FromWorker): void {
    switch (message.type) {
      case 'online':
        this.#online.resolve()
        break
      case 'loaded':
        this.#loaded.resolve(message)
        break
      case 'load_failed':
        this.#loaded.reject(new ScriptLoadError(message))
        break
      case 'pong':
        this.#ponged.resolve()
        this.#watch.pong(message.n)
        break
      case 'print':
        this.#deps.log[message.level](message.text, omission(message.omitted))
        break
      case 'batch':
        if (!this.#deps.output(message)) this.#fail('it sent a malformed batch')
    }
  }

  #fail(reason: string): void {
    if (this.#state === 'ended') return
    const wasServing = this.#state === 'serving'
    const running = this.#watch.sliceIsRunning() ? runningCall(this.#control) : undefined
    this.#close()
    const error = new ScriptLoadError({ message: `the worker ended: ${reason}` })
    for (const phase of [this.#online, this.#loaded, this.#ponged]) phase.reject(error)
    void this.#worker.terminate()
    if (wasServing) this.#deps.ended({ reason, running })
  }

  #close(): void {
    this.#state = 'ended'
    this.#watch.stop()
    for (const timer of this.#timers) timer.cancel()
  }

  async #within<T>(phase: Deferred<T>, limitMs: number, late: string, file?: string): Promise<T> {
    const timer = this.#deps.clock.after(limitMs, () => {
      phase.reject(new ScriptLoadError({ message: late, file }))
    })
    this.#timers.add(timer)
    try {
      return await phase.promise
    } finally {
      timer.cancel()
      this.#timers.delete(timer)
    }
  }

  #print(stream: Readable, level: 'info' | 'error'): void {
    const limit = createLineLimiter(this.#deps.clock)
    const split = createLineSplitter((line) => {
      limit((omitted) => this.#deps.log[level](line, omission(omitted)))
    })
    stream.setEncoding('utf8').on('data', split)
  }
}

function omission(omitted: number): { omitted_lines: number } | undefined {
  return omitted === 0 ? undefined : { omitted_lines: omitted }
}

type Deferred<T> = {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (error: Error) => void
}

/** A promise that may be rejected although nobody waits for it (any more). */
function deferred<T>(): Deferred<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  promise.catch(() => {})
  return { promise, resolve, reject }
}

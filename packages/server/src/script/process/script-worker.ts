import type { ChildProcess } from 'node:child_process'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Clock, Timer } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import { createLineLimiter, createLineSplitter } from '../log/line-limiter.ts'
import { protocolTimes } from '../wire/limits.ts'
import type { Overdue } from '../wire/overdue.ts'
import {
  type FromWorker,
  type OutputBatch,
  parseFromWorker,
  type ToWorker,
  type WorkerSettings,
} from '../wire/protocol.ts'
import { createHeartbeat, type Heartbeat } from './heartbeat.ts'
import type { Program } from './languages.ts'
import { ScriptLoadError } from './load-error.ts'

/** Why a worker is gone. `overdue` is set only when a slice ran past its deadline. */
export type WorkerEnd = { readonly reason: string; readonly overdue: Overdue | undefined }

export type Loaded = FromWorker & { type: 'loaded' }

type ScriptWorkerDeps = {
  program: Program
  settings: WorkerSettings
  environment: NodeJS.ProcessEnv
  loadTimeoutMs: number
  clock: Clock
  log: Log
  /** Handles a batch; false when its records are malformed. */
  output: (batch: OutputBatch) => boolean
  /** Called once when the worker ends without having been stopped. */
  ended: (end: WorkerEnd) => void
}

/**
 * One worker process from the node's side: its start, its messages, its health, its end. Whatever
 * the worker does, the worst that comes of it here is one call of `ended`.
 */
export class ScriptWorker {
  readonly #deps: ScriptWorkerDeps
  readonly #child: ChildProcess
  readonly #heartbeat: Heartbeat
  readonly #timers = new Set<Timer>()
  readonly #online = deferred<void>()
  readonly #loaded = deferred<Loaded>()
  readonly #ponged = deferred<void>()
  readonly #exited = deferred<void>()
  #state: 'starting' | 'serving' | 'ended' = 'starting'
  #pings = 0

  constructor(deps: ScriptWorkerDeps) {
    this.#deps = deps
    this.#child = startProcess(deps)
    this.#child.on('message', (message: unknown) => this.#receive(message))
    this.#child.on('error', (error) => this.#fail(error.message))
    // A process that exits closes its channel first; one that only closed it must go as well.
    this.#child.on('disconnect', () => this.#child.kill('SIGKILL'))
    this.#child.on('exit', (code, signal) => {
      this.#exited.resolve()
      this.#fail(signal ? `it ended by ${signal}` : `it exited with code ${code}`)
    })
    this.#heartbeat = createHeartbeat(deps.clock, () => this.#fail('it does not respond'))
    const { stdout, stderr, stdio } = this.#child
    if (stdout) this.#print(stdout, 'info')
    if (stderr) this.#print(stderr, 'error')
    const reports = stdio[4]
    if (reports instanceof Readable) this.#listen(reports)
  }

  /** Loads the script and waits for a first pong. Rejects with a `ScriptLoadError`. */
  async load(request: ToWorker & { type: 'load' }): Promise<Loaded> {
    try {
      const { loadTimeoutMs, settings } = this.#deps
      this.post({ type: 'start', settings })
      await this.#within(this.#online, protocolTimes.engineStartMs, 'the engine did not start')
      this.post(request)
      const tooLong = `the top level ran longer than ${loadTimeoutMs} ms`
      const loaded = await this.#within(this.#loaded, loadTimeoutMs, tooLong, request.entry)
      this.ping()
      await this.#within(this.#ponged, protocolTimes.pongWithinMs, 'the script does not respond')
      if (this.#state === 'starting') this.#state = 'serving'
      this.#heartbeat.start()
      return loaded
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  post(message: ToWorker): void {
    // What could not be sent any more is lost with the worker, which its end reports.
    if (this.#state !== 'ended' && this.#child.connected) this.#child.send(message, () => {})
  }

  /** Makes the worker look for calls that have lasted too long. */
  ping(): void {
    this.#pings += 1
    this.post({ type: 'ping', n: this.#pings })
  }

  /** Ends the process; `ended` is not called any more. */
  async stop(): Promise<void> {
    this.#close()
    this.#child.kill('SIGKILL')
    if (this.#child.pid !== undefined) await this.#exited.promise
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
        break
      case 'print':
        this.#deps.log[message.level](message.text, omission(message.omitted))
        break
      case 'batch':
        if (!this.#deps.output(message)) this.#fail('it sent a malformed batch')
    }
  }

  /** What the watchdog inside the process says: the script's own thread may be stuck. */
  #listen(reports: Readable): void {
    const split = createLineSplitter((line) => {
      const [word, running, begun] = line.split(' ')
      const overdue = { running: Number(running), begun: Number(begun) }
      if (word === 'beat') this.#heartbeat.beat()
      else if (word === 'overdue') this.#fail('a slice ran past its deadline', overdue)
      else if (word === 'memory') this.#fail('it uses more than its memory')
      else if (word === 'unresponsive') this.#fail('it does not respond')
    })
    reports.setEncoding('utf8').on('data', split)
  }

  #fail(reason: string, overdue?: Overdue): void {
    if (this.#state === 'ended') return
    const wasServing = this.#state === 'serving'
    this.#close()
    const error = new ScriptLoadError({ message: `the worker ended: ${reason}` })
    for (const phase of [this.#online, this.#loaded, this.#ponged]) phase.reject(error)
    this.#child.kill('SIGKILL')
    if (wasServing) this.#deps.ended({ reason, overdue })
  }

  #close(): void {
    this.#state = 'ended'
    this.#heartbeat.stop()
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

/**
 * A process, not a thread: a thread that runs out of memory ends the whole process, and one in a
 * loop that the engine does not interrupt cannot be ended at all.
 */
function startProcess({ program, environment, settings }: ScriptWorkerDeps): ChildProcess {
  // Loaded by those alone who have a script.
  return process.getBuiltinModule('node:child_process').fork(fileURLToPath(program.entry), [], {
    env: environment,
    execArgv: [
      `--max-old-space-size=${settings.memoryMb}`,
      '--disable-warning=ExperimentalWarning',
      ...program.execArgv(settings),
    ],
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'],
  })
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

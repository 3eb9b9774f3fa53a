import type { ChildProcess } from 'node:child_process'
import { Duplex, Readable, type Writable } from 'node:stream'
import { atEndOfTurn, type Clock, type Timer } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import { createLineLimiter, createLineSplitter } from '../log/line-limiter.ts'
import { messageBytes, protocolTimes } from '../wire/limits.ts'
import { encodeMessage, MessageReader } from '../wire/messages.ts'
import type { Overdue } from '../wire/overdue.ts'
import {
  channelFd,
  type FromWorker,
  type OutputBatch,
  parseFromWorker,
  type ToWorker,
  type WorkerSettings,
} from '../wire/protocol.ts'
import { isOtherProtocol } from '../wire/protocol-id.ts'
import { reportFd } from '../worker/watchdog/watchdog-protocol.ts'
import { type EarlyProcess, type ProcessStart, startProcess } from './engine-process.ts'
import { createHeartbeat, type Heartbeat } from './heartbeat.ts'
import { ScriptLoadError } from './load-error.ts'

/** Why a worker is gone. `overdue` is set only when a slice ran past its deadline. */
export type WorkerEnd = { readonly reason: string; readonly overdue: Overdue | undefined }

export type Loaded = FromWorker & { type: 'loaded' }

/** Files that an engine has looked for, by their path; undefined = it is not there. */
export type AskedFiles = ReadonlyMap<string, Uint8Array | undefined>

type ScriptWorkerDeps = ProcessStart & {
  settings: WorkerSettings
  /** A process that may be there already. */
  early?: EarlyProcess | undefined
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
  /** None where the process could not be started. */
  readonly #channel: Duplex | undefined
  readonly #messages: MessageReader
  readonly #heartbeat: Heartbeat
  readonly #timers = new Set<Timer>()
  readonly #online = deferred<void>()
  readonly #loaded = deferred<Loaded>()
  readonly #ponged = deferred<void>()
  readonly #exited = deferred<void>()
  readonly #debugged = new Set<() => void>()
  readonly #asked = new Map<string, Uint8Array | undefined>()
  #profiled: Deferred<string | undefined> | undefined
  #state: 'starting' | 'serving' | 'ended' = 'starting'
  #pings = 0
  #inspectorPort: number | undefined
  #cpuUs = 0
  #isAttached = false
  /** The ping that is not answered, and how many batches were sent before it. */
  #openPing: { readonly n: number; readonly batches: number } | undefined
  #batchesSent = 0
  #batchesAnswered = 0

  constructor(deps: ScriptWorkerDeps) {
    this.#deps = deps
    this.#child = deps.early?.take(deps) ?? startProcess(deps)
    // Also when it cannot be started, which it says later.
    this.#child.on('error', (error) => this.#fail(error.message))
    this.#messages = new MessageReader(bytesMaxOf(deps.settings))
    this.#channel = this.#listenToChannel()
    this.#child.on('exit', (code, signal) => {
      this.#exited.resolve()
      this.#fail(signal ? `it ended by ${signal}` : `it exited with code ${code}`)
    })
    this.#heartbeat = createHeartbeat({
      clock: deps.clock,
      ping: () => this.ping(),
      missed: (reason) => (this.#isAttached ? undefined : this.#fail(reason)),
    })
    const { stdout, stderr } = this.#child
    if (stdout) this.#print(stdout, 'info')
    if (stderr) this.#print(stderr, 'error')
    const reports = streamOf(this.#child, reportFd)
    if (reports instanceof Readable) this.#listen(reports)
  }

  get isAlive(): boolean {
    return this.#state !== 'ended'
  }

  get inspectorPort(): number | undefined {
    return this.#inspectorPort
  }

  /** Whether a debugger is attached: it is not looked at meanwhile. */
  get isAttached(): boolean {
    return this.#isAttached
  }

  /** CPU of its whole process in seconds, as it said last: it does so every second. */
  get cpuSeconds(): number {
    return this.#cpuUs / 1_000_000
  }

  /** The files that its engine has looked for so far. */
  get asked(): AskedFiles {
    return this.#asked
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
    if (message.type === 'batch') this.#batchesSent += 1
    // What could not be sent any more is lost with the worker, which its end reports.
    if (this.#state !== 'ended') this.#channel?.write(encodeMessage(message))
  }

  /** Makes the worker look for calls that have lasted too long. */
  ping(): void {
    if (this.#openPing !== undefined) return
    this.#pings += 1
    this.#openPing = { n: this.#pings, batches: this.#batchesSent }
    this.post({ type: 'ping', n: this.#pings })
  }

  /** A debugger attaches, or is gone. Resolves when the process knows. */
  async debug(attached: boolean): Promise<void> {
    this.#isAttached = attached
    if (!this.isAlive) return
    const { clock, settings } = this.#deps
    // Of a slice that runs on when its debugger has gone, the watchdog sees nothing.
    const limitMs = settings.deadlineMs + protocolTimes.graceMs
    const late = () => (this.#isAttached ? undefined : this.#fail('a slice ran past its deadline'))
    const timer = clock.after(limitMs, late)
    this.post({ type: 'debug', attached })
    await new Promise<void>((resolve) => this.#debugged.add(resolve))
    timer.cancel()
  }

  /** Where its CPU goes in so many milliseconds; undefined where its engine cannot say. */
  async profile(durationMs: number): Promise<string | undefined> {
    if (this.#profiled !== undefined) throw new Error('the script is being profiled already')
    const profiled = deferred<string | undefined>()
    this.#profiled = profiled
    try {
      if (!this.isAlive) throw new Error('the worker has ended')
      this.post({ type: 'profile', durationMs })
      return await profiled.promise
    } finally {
      this.#profiled = undefined
    }
  }

  /** Ends the process; `ended` is not called any more. */
  async stop(): Promise<void> {
    if (this.#state === 'starting') this.#reject('it was stopped')
    this.#close()
    this.#kill()
    if (this.#child.pid !== undefined) await this.#exited.promise
  }

  /** What both ends write messages to, and read them from. */
  #listenToChannel(): Duplex | undefined {
    const channel = streamOf(this.#child, channelFd)
    if (!(channel instanceof Duplex)) {
      atEndOfTurn(() => this.#fail('it has no channel'))
      return undefined
    }
    const receive = (message: unknown) => this.#receive(message)
    channel.on('data', (piece: Buffer) => this.#read(piece, receive))
    // A process that exits closes its channel first; one that only closed it must go as well.
    return channel.on('error', () => {}).on('close', () => this.#kill())
  }

  #read(piece: Buffer, receive: (message: unknown) => void): void {
    if (this.#state === 'ended') return
    const problem = this.#messages.read(piece, receive)
    if (problem !== undefined) this.#fail(`it sent ${problem}`)
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
        this.#isOnline(message)
        break
      case 'debugged':
        this.#knowsDebugger()
        break
      case 'asked':
        if (this.#asked.size < askedMax) this.#asked.set(message.path, message.bytes)
        break
      case 'loaded':
        this.#loaded.resolve(message)
        break
      case 'load_failed':
        this.#loaded.reject(new ScriptLoadError(message))
        break
      case 'pong':
        this.#takePong(message.n)
        break
      case 'profiled':
        this.#profiled?.resolve(message.profile)
        break
      case 'print':
        this.#deps.log[message.level](message.text, omission(message.omitted))
        break
      case 'batch':
        this.#batchesAnswered += message.answered
        if (!this.#deps.output(message)) this.#fail('it sent a malformed batch')
    }
  }

  #isOnline({ protocol, inspectorPort }: FromWorker & { type: 'online' }): void {
    this.#inspectorPort = inspectorPort
    if (isOtherProtocol(protocol)) this.#fail(otherBuild)
    else this.#online.resolve()
  }

  #knowsDebugger(): void {
    for (const resolve of this.#debugged) resolve()
    this.#debugged.clear()
  }

  /** Messages keep their order: what was sent before a ping is answered before its pong. */
  #takePong(n: number): void {
    const ping = this.#openPing
    this.#openPing = undefined
    if (ping?.n !== n) this.#fail('it sent a malformed message')
    else if (this.#batchesAnswered < ping.batches) this.#fail('it answers pings and no calls')
    this.#ponged.resolve()
    this.#heartbeat.ponged()
  }

  /** What the watchdog inside the process says: the script's own thread may be stuck. */
  #listen(reports: Readable): void {
    const split = createLineSplitter((line) => {
      const [word, first, second] = line.split(' ')
      const overdue = { running: Number(first), begun: Number(second) }
      if (word === 'beat') this.#beat(Number(first), Number(second))
      else if (word === 'overdue') this.#fail('a slice ran past its deadline', overdue)
      else if (word === 'memory') this.#fail('it uses more than its memory')
      else if (word === 'unresponsive') this.#fail('it does not respond')
    })
    reports.setEncoding('utf8').on('data', split)
  }

  #beat(turns: number, cpuUs: number): void {
    if (Number.isSafeInteger(cpuUs)) this.#cpuUs = Math.max(this.#cpuUs, cpuUs)
    this.#heartbeat.beat(turns)
  }

  #fail(reason: string, overdue?: Overdue): void {
    if (this.#state === 'ended') return
    const wasServing = this.#state === 'serving'
    this.#close()
    this.#reject(reason)
    this.#kill()
    if (wasServing) this.#deps.ended({ reason, overdue })
  }

  /** One that never began has no id, and a signal to none may reach others. */
  #kill(): void {
    if (this.#child.pid !== undefined) this.#child.kill('SIGKILL')
  }

  /** Ends the load, if there is one. */
  #reject(reason: string): void {
    const error = new ScriptLoadError({ message: `the worker ended: ${reason}` })
    for (const phase of [this.#online, this.#loaded, this.#ponged]) phase.reject(error)
  }

  #close(): void {
    this.#state = 'ended'
    this.#profiled?.reject(new Error('the worker has ended'))
    this.#heartbeat.stop()
    this.#knowsDebugger()
    for (const timer of this.#timers) timer.cancel()
    // Processes that the script has started may hold the other ends.
    for (const fd of [channelFd, reportFd]) streamOf(this.#child, fd)?.destroy()
  }

  async #within<T>(phase: Deferred<T>, limitMs: number, late: string, file?: string): Promise<T> {
    const timer = this.#deps.clock.every(limitMs, () => {
      // Where a debugger holds it, it has that time once more.
      if (!this.#isAttached) phase.reject(new ScriptLoadError({ message: late, file }))
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
      if (ofInspector.test(line)) return
      limit((omitted) => this.#deps.log[level](line, omission(omitted)))
    })
    stream.setEncoding('utf8').on('data', split)
  }
}

/** What Node.js says on stderr of a debugger; the node has a line of its own for that. */
const ofInspector = /^(Debugger attached\.|Waiting for the debugger to disconnect\.\.\.)$/

const otherBuild = 'the server has been built or installed anew: start the node again'

/** A script has as many files as it likes; beyond these it is not followed. */
const askedMax = 10_000

/** A process that could not be started may have none at all, whatever its type says. */
function streamOf({ stdio }: Partial<ChildProcess>, fd: number): Readable | Writable | undefined {
  return stdio?.[fd] ?? undefined
}

function bytesMaxOf({ stateBytesMax }: WorkerSettings): number {
  return Math.min(messageBytes.fromWorker + stateBytesMax, messageBytes.toWorker)
}

function omission(omitted: number): { omitted_lines: number } | undefined {
  return omitted === 0 ? undefined : { omitted_lines: omitted }
}

type Deferred<T> = {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (error: Error) => void
}

/** A promise that may be rejected although nothing waits for it (any more). */
function deferred<T>(): Deferred<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  promise.catch(() => {})
  return { promise, resolve, reject }
}

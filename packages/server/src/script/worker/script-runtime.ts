import { atEndOfTurn, createSystemClock, processMs } from '../../kernel/clock.ts'
import { createCallReader } from '../wire/call-records.ts'
import type {
  CallBatch,
  FromWorker,
  HostResult,
  NodeTime,
  PrintLevel,
  ToWorker,
  WorkerSettings,
} from '../wire/protocol.ts'
import { protocolId } from '../wire/protocol-id.ts'
import { revisionId } from '../wire/revision.ts'
import { type BindingHost, callerOf } from './bindings/binding-host.ts'
import { createSurface, type Surface } from './bindings/surface.ts'
import {
  arm,
  createControl,
  disarm,
  isAttached,
  setAttached,
  takeInterrupt,
  ticks,
} from './control.ts'
import type { CreateEngine, Engine } from './engines/engine.ts'
import { type ErrorPlace, errorText } from './errors.ts'
import { createHostCalls, type HostCalls } from './host-calls.ts'
import { createPrinter } from './printer.ts'
import { createRegistry } from './registry.ts'
import { StateRooms } from './rooms/state-rooms.ts'
import { Runner } from './runner.ts'
import { createTimers } from './timers.ts'
import { startWatchdog } from './watchdog/watched.ts'

type RuntimeDeps = {
  post: (message: FromWorker) => void
  exit: (code: number) => void
  createEngine: CreateEngine
}

type Load = ToWorker & { type: 'load' }

/** What a worker has from the start of its engine on. */
type Started = {
  readonly engine: Engine
  readonly runner: Runner
  readonly settings: WorkerSettings
}

/** Loads the one script of this process and then answers the batches of the node. */
export class ScriptRuntime {
  readonly #deps: RuntimeDeps
  readonly #clock = createSystemClock()
  readonly #print: (level: PrintLevel, text: string) => void
  readonly #registry = createRegistry()
  readonly #timers = createTimers()
  readonly #rooms: StateRooms
  readonly #hostCalls: HostCalls
  readonly #control = createControl()
  #started: Started | undefined
  #now: NodeTime | undefined
  /** Call batches whose calls have all been started, and that have not been answered. */
  #unanswered = 0
  #turnEndWanted = false
  /** Messages that have come; so many of them are taken. */
  #inbox: ToWorker[] = []
  #taken = 0
  /** The number of the ping that is answered at the end of the turn. */
  #pinged: number | undefined
  #hasLoaded = false

  constructor(deps: RuntimeDeps) {
    this.#deps = deps
    this.#rooms = new StateRooms({
      registry: this.#registry,
      clock: this.#scriptClock(),
      runSoon: (hook, roomId) => this.#started?.runner.runSoon(hook, roomId),
      describe: (error) => errorText(this.#describe(error)),
      stateBytesMax: () => this.#started?.settings.stateBytesMax ?? 0,
      // Only tests move the clock of a node by hand.
      isTested: () => this.#now !== undefined,
    })
    this.#print = createPrinter(this.#clock, deps.post)
    this.#hostCalls = createHostCalls(() => this.#wantTurnEnd())
  }

  /**
   * A message has come; `work` takes it. The channel is this host's own; what else arrives on it
   * is not for us.
   */
  receive(message: unknown): void {
    if (isFromNode(message)) this.#inbox[this.#inbox.length] = message
  }

  /** Takes what has come. An interrupt may end it anywhere; the end of the turn goes on then. */
  work(): void {
    this.#wantTurnEnd()
    this.#guarded(() => {
      this.#recover()
      this.#takeAll({ alone: true })
    })
  }

  /** An error of the script that nobody caught: it is reported, and the process goes on. */
  reportStray(error: unknown): void {
    const { message, file, line } = this.#describe(error)
    const place = file === undefined ? '' : ` at ${file}:${line}`
    this.#print('error', `nobody caught an error of the script${place}: ${message}`)
  }

  #takeAll(how: { alone: boolean }): void {
    while (this.#taken < this.#inbox.length) {
      const message = this.#inbox[this.#taken]
      this.#taken += 1
      if (message) this.#take(message, how)
    }
    this.#inbox = []
    this.#taken = 0
  }

  /** Whether it went on behind a batch that an interrupt has ended. */
  #recover(): boolean {
    if (!this.#started?.runner.recover()) return false
    this.#unanswered += 1
    this.#takeAll({ alone: false })
    return true
  }

  #take(message: ToWorker, how: { alone: boolean }): void {
    switch (message.type) {
      case 'start':
        void this.#start(message.settings).catch((error: unknown) => this.#fail(error))
        return
      case 'load':
        if (this.#started) void this.#load(this.#started, message)
        return
      case 'batch':
        if (this.#started) this.#runBatch(this.#started.runner, message, how)
        return
      case 'ping':
        this.#started?.runner.sweep()
        this.#pinged = message.n
        this.#wantTurnEnd()
        return
      case 'profile':
        void this.#profile(message.durationMs).catch((error: unknown) => this.#fail(error))
        return
      case 'debug':
        setAttached(this.#control.control, message.attached)
        this.#deps.post({ type: 'debugged' })
        return
      case 'stop':
        this.#deps.exit(0)
    }
  }

  /** The worker is online when its engine has started. */
  async #start(settings: WorkerSettings): Promise<void> {
    const { post, exit, createEngine } = this.#deps
    this.#now = settings.now
    const { control } = this.#control
    const engine = await createEngine({
      settings,
      clock: this.#clock,
      exit,
      resume: (invocation, slice) => this.#started?.runner.resume(invocation, slice),
      asked: (path, bytes) => post({ type: 'asked', path, bytes }),
      ticks: () => ticks(control),
      isAttached: () => isAttached(control),
      interrupts: {
        arm: (withinMs) => arm(control, processMs() + withinMs),
        disarm: () => disarm(control),
        take: () => takeInterrupt(control),
      },
    })
    this.#started = { engine, runner: this.#createRunner(engine, settings), settings }
    // Calls look at the memory as they end; the script's own timers may use it up without any.
    startWatchdog(this.#control, settings, () => engine.checkMemory())
    post({ type: 'online', protocol: protocolId(), inspectorPort: engine.inspectorPort })
  }

  async #load(started: Started, { entry, generation, files }: Load): Promise<void> {
    const { post } = this.#deps
    const { engine } = started
    const filesOf = () => engine.filesRead?.() ?? files ?? []
    try {
      const surface = this.#createSurface(started, generation, () => revisionId(filesOf()))
      await engine.load({ entry, files, surface })
    } catch (error) {
      post({ type: 'load_failed', file: entry, ...engine.problemOf(error) })
      return
    }
    this.#registry.close()
    this.#hasLoaded = true
    const handlers = this.#registry.summary()
    if (handlers) post({ type: 'loaded', handlers })
    else post({ type: 'load_failed', message: 'the script registers no handler', file: entry })
  }

  async #profile(durationMs: number): Promise<void> {
    const profile = await this.#started?.engine.profile?.(durationMs)
    this.#deps.post({ type: 'profiled', profile })
  }

  #createRunner(engine: Engine, settings: WorkerSettings): Runner {
    return new Runner({
      ...settings,
      clock: this.#clock,
      control: this.#control.control,
      engine,
      registry: this.#registry,
      timers: this.#timers,
      rooms: this.#rooms,
      wantTurnEnd: () => this.#wantTurnEnd(),
      flush: () => this.#flush(),
    })
  }

  /** The time as the script reads it. Deadlines go by the process's own. */
  #scriptClock(): BindingHost['clock'] {
    return {
      nowUnixMs: () => this.#now?.unixMs ?? this.#clock.nowUnixMs(),
      monotonicMs: () => this.#now?.monotonicMs ?? this.#clock.monotonicMs(),
    }
  }

  #createSurface(
    { runner, settings: { nodeId, tier, lines } }: Started,
    generation: number,
    revision_id: () => string,
  ): Surface {
    const hostCalls = this.#hostCalls
    const host: BindingHost = {
      clock: this.#scriptClock(),
      registry: this.#registry,
      lines,
      timers: this.#timers,
      runner,
      print: this.#print,
      ask: (name, args) =>
        this.#hasLoaded ? hostCalls.ask(callerOf(host), name, args) : refuseAtTopLevel(name),
      stoppable: hostCalls,
    }
    const identity = { node_id: nodeId, tier, generation, revision_id }
    return createSurface({ ...host, rooms: this.#rooms }, identity)
  }

  #runBatch(runner: Runner, batch: CallBatch, how: { alone: boolean }): void {
    this.#now = batch.now
    const read = createCallReader(batch)
    for (let n = 0; n < batch.results.length; n += 1) {
      const result = batch.results[n]
      if (result) this.#hostCalls.resolve(result)
    }
    for (let n = 0; n < batch.calls; n += 1) runner.enqueue(read(n))
    runner.sweep()
    runner.run(how)
    this.#unanswered += 1
    this.#wantTurnEnd()
  }

  #wantTurnEnd(): void {
    if (this.#turnEndWanted) return
    // In this order: an interrupt between the two costs nothing but a second end.
    atEndOfTurn(() => this.#guarded(() => this.#endTurn()))
    this.#turnEndWanted = true
  }

  #endTurn(): void {
    this.#turnEndWanted = false
    this.#started?.engine.checkMemory()
    if (this.#recover()) {
      // What it has begun goes on before the turn ends.
      this.#wantTurnEnd()
      return
    }
    this.#started?.runner.endTurn()
    this.#flush()
    this.#pong()
  }

  /** Behind the answers to all that came before the ping. */
  #pong(): void {
    const n = this.#pinged
    if (n === undefined) return
    this.#pinged = undefined
    this.#deps.post({ type: 'pong', n })
  }

  #flush(): void {
    const asked = this.#hostCalls.take()
    const output = this.#started?.runner.output
    const isQuiet = asked.calls.length === 0 && asked.stopped.length === 0
    if (!output || (output.isEmpty && isQuiet && this.#unanswered === 0)) return
    const answered = this.#unanswered
    this.#unanswered = 0
    this.#deps.post({ type: 'batch', answered, ...asked, ...output.take() })
  }

  #describe(error: unknown): ErrorPlace {
    return this.#started?.engine.describe(error) ?? { message: String(error) }
  }

  /** An error of the host code itself: the process ends, and the node starts another. */
  #guarded(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.#print('error', `the script host failed: ${this.#describe(error).message}`)
    this.#deps.exit(1)
  }
}

/** The node answers a script that serves; what its top level waits for would never come. */
async function refuseAtTopLevel(name: string): Promise<HostResult> {
  const message = `${name} cannot be called while the script loads: call it in on_start`
  return { id: 0, ok: false, code: 'unavailable', message }
}

function isFromNode(message: unknown): message is ToWorker {
  return typeof message === 'object' && message !== null && 'type' in message
}

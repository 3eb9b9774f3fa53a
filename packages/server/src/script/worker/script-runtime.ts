import { sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { atEndOfTurn, createSystemClock } from '../../kernel/clock.ts'
import { createCallReader } from '../wire/call-records.ts'
import type {
  CallBatch,
  FromWorker,
  NodeTime,
  PrintLevel,
  ToWorker,
  WorkerSettings,
} from '../wire/protocol.ts'
import { revisionId } from '../wire/revision.ts'
import { type BindingHost, callerOf } from './bindings/binding-host.ts'
import { createGuildhall } from './bindings/guildhall.ts'
import { createControl } from './control.ts'
import { createGuard } from './engines/javascript/guard.ts'
import {
  createLoader,
  findSyntaxError,
  type Loader,
  ModuleProblem,
} from './engines/javascript/loader.ts'
import { createMemoryBound, type MemoryBound } from './engines/javascript/memory.ts'
import { describeError } from './errors.ts'
import { createHostCalls, type HostCalls } from './host-calls.ts'
import { createPrinter } from './printer.ts'
import { createRegistry } from './registry.ts'
import { Runner } from './runner.ts'
import { createTimers } from './timers.ts'
import { startWatchdog } from './watched.ts'

type RuntimeDeps = { post: (message: FromWorker) => void; exit: (code: number) => void }

type Load = ToWorker & { type: 'load' }

/** Loads the one script of this process and then answers the batches of the node. */
export class ScriptRuntime {
  readonly #deps: RuntimeDeps
  readonly #clock = createSystemClock()
  readonly #print: (level: PrintLevel, text: string) => void
  readonly #registry = createRegistry()
  readonly #timers = createTimers()
  readonly #hostCalls: HostCalls
  readonly #control = createControl()
  #runner: Runner | undefined
  #loader: Loader | undefined
  #memory: MemoryBound | undefined
  #scriptsUrl = ''
  #now: NodeTime | undefined
  /** Call batches whose calls have all been started, and that have not been answered. */
  #started = 0
  #turnEndWanted = false

  constructor(deps: RuntimeDeps) {
    this.#deps = deps
    this.#print = createPrinter(this.#clock, deps.post)
    this.#hostCalls = createHostCalls(() => this.#wantTurnEnd())
  }

  /** Takes a message. The channel is this host's own; what else arrives on it is not for us. */
  receive(message: unknown): void {
    if (isFromNode(message)) this.#guarded(() => this.#take(message))
  }

  /** An error of the script that nobody caught: it is reported, and the process goes on. */
  reportStray(error: unknown): void {
    const { message, file, line } = describeError(error, this.#scriptsUrl)
    const place = file === undefined ? '' : ` at ${file}:${line}`
    this.#print('error', `nobody caught an error of the script${place}: ${message}`)
  }

  #take(message: ToWorker): void {
    switch (message.type) {
      case 'load':
        void this.#load(message)
        return
      case 'batch':
        if (this.#runner) this.#runBatch(this.#runner, message)
        return
      case 'ping':
        this.#runner?.sweep()
        this.#endTurn()
        this.#deps.post({ type: 'pong', n: message.n })
        return
      case 'stop':
        this.#deps.exit(0)
    }
  }

  async #load({ entry, generation, files, settings }: Load): Promise<void> {
    const { post } = this.#deps
    this.#scriptsUrl = pathToFileURL(settings.scriptsDir + sep).href
    const loader = createLoader(settings.scriptsDir, files)
    this.#loader = loader
    this.#now = settings.now
    const runner = this.#createRunner(settings)
    this.#runner = runner
    const memory = createMemoryBound(settings.memoryMb, this.#deps.exit)
    this.#memory = memory
    // Calls look at the memory as they end; the script's own timers may use it up without any.
    startWatchdog(this.#control, settings, () => memory.check())
    const guildhall = this.#createGuildhall(runner, settings, generation)
    Object.defineProperty(globalThis, 'guildhall', { value: guildhall })
    try {
      await loader.load(entry)
    } catch (error) {
      post({ type: 'load_failed', file: entry, ...this.#problem(error, loader) })
      return
    }
    this.#registry.close()
    const handlers = this.#registry.summary()
    if (handlers) post({ type: 'loaded', handlers, files: loader.files() })
    else post({ type: 'load_failed', message: 'the script registers no handler', file: entry })
  }

  #problem(error: unknown, loader: Loader) {
    if (error instanceof ModuleProblem) return { message: error.message, file: error.file }
    const place = describeError(error, this.#scriptsUrl)
    const unplaced = error instanceof SyntaxError && place.file === undefined
    return { ...place, ...(unplaced ? findSyntaxError(loader.files()) : {}) }
  }

  #createRunner(settings: WorkerSettings): Runner {
    return new Runner({
      ...settings,
      clock: this.#clock,
      control: this.#control.control,
      guard: createGuard(this.#clock),
      registry: this.#registry,
      timers: this.#timers,
      scriptsUrl: this.#scriptsUrl,
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

  #createGuildhall(
    runner: Runner,
    { nodeId, tier, lines }: WorkerSettings,
    generation: number,
  ): object {
    const hostCalls = this.#hostCalls
    const host: BindingHost = {
      clock: this.#scriptClock(),
      registry: this.#registry,
      lines,
      timers: this.#timers,
      runner,
      print: this.#print,
      ask: async (name, args) => hostCalls.ask(callerOf(host), name, args),
    }
    return createGuildhall(host, {
      node_id: nodeId,
      tier,
      generation,
      revision_id: () => revisionId(this.#loader?.files() ?? []),
    })
  }

  #runBatch(runner: Runner, batch: CallBatch): void {
    this.#now = batch.now
    const read = createCallReader(batch)
    for (let n = 0; n < batch.results.length; n += 1) {
      const result = batch.results[n]
      if (result) this.#hostCalls.resolve(result)
    }
    for (let n = 0; n < batch.calls; n += 1) runner.enqueue(read(n))
    runner.sweep()
    runner.run()
    this.#started += 1
    this.#wantTurnEnd()
  }

  #wantTurnEnd(): void {
    if (this.#turnEndWanted) return
    this.#turnEndWanted = true
    atEndOfTurn(() => this.#guarded(() => this.#endTurn()))
  }

  #endTurn(): void {
    this.#turnEndWanted = false
    this.#memory?.check()
    this.#runner?.endTurn()
    this.#flush()
  }

  #flush(): void {
    const calls = this.#hostCalls.take()
    const output = this.#runner?.output
    if (!output || (output.isEmpty && calls.length === 0 && this.#started === 0)) return
    const answered = this.#started
    this.#started = 0
    this.#deps.post({ type: 'batch', answered, calls, ...output.take() })
  }

  /** An error of the host code itself: the process ends, and the node starts another. */
  #guarded(work: () => void): void {
    try {
      work()
    } catch (error) {
      const { message } = describeError(error, this.#scriptsUrl)
      this.#print('error', `the script host failed: ${message}`)
      this.#deps.exit(1)
    }
  }
}

function isFromNode(message: unknown): message is ToWorker {
  return typeof message === 'object' && message !== null && 'type' in message
}

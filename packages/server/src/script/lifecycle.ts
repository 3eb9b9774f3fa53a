import { existsSync, realpathSync } from 'node:fs'
import type { Clock, Timer } from '../kernel/clock.ts'
import type { ErrorJournal } from '../kernel/errors/error-journal.ts'
import type { Log } from '../kernel/log/log.ts'
import { nobody } from '../kernel/play/calls.ts'
import { type ScriptConfig, tickDeadlineMs } from './config.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { ScriptMetrics } from './metrics.ts'
import { filesToHandOver, type Selection, selectEntrypoint } from './process/languages.ts'
import {
  afterFailedAttempt,
  afterFailure,
  afterStart,
  delayMs,
  firstRecovery,
  type Recovery,
  shownFailures,
} from './process/recovery.ts'
import { type Loaded, ScriptWorker, type WorkerEnd } from './process/script-worker.ts'
import { advance, type Readiness, type ReadinessEvent, type ReadinessState } from './readiness.ts'
import type { FailuresView } from './view/failures-view.ts'
import { type Handlers, hookCode } from './wire/hooks.ts'
import type { LineSettings, NodeTime, StartReason } from './wire/protocol.ts'
import { revisionId, type ScriptFile } from './wire/revision.ts'

export type LifecycleDeps = {
  config: ScriptConfig
  clock: Clock
  log: Log
  journal: Pick<ErrorJournal, 'record'>
  dispatcher: Dispatcher
  metrics: ScriptMetrics
  view: Pick<FailuresView, 'activated'>
  nodeId: string
  lines: LineSettings
  /** By this clock the process is watched: its deadlines are real. */
  processClock: Clock
  nodeTime: () => NodeTime | undefined
  environment: NodeJS.ProcessEnv
  /** Called when the worker of a generation has failed. */
  workerLost(generation: number): void
  /** Called when a worker begins to serve. */
  serves(handlers: Handlers): void
}

/** A script that has loaded once: what a restart loads again. */
type Revision = { readonly id: string; readonly files: readonly ScriptFile[] }

/** Why a script is loaded, and since when. */
type Start = { readonly reason: StartReason; readonly startedMs: number }

type Serving = {
  readonly worker: ScriptWorker
  readonly handlers: Handlers
  readonly kinds: ReadonlySet<number>
  readonly methods: ReadonlySet<string>
}

/**
 * From boot to stop: which state the script is in, which worker serves, and when a failed one is
 * started again.
 */
export class Lifecycle {
  readonly #deps: LifecycleDeps
  #readiness: Readiness = { state: 'boot', since_unix_millis: 0 }
  #recovery: Recovery = firstRecovery
  #selection: Selection | undefined
  #revision: Revision | undefined
  #generation = 0
  #serving: Serving | undefined
  #lastHooks: Handlers['hooks'] = []
  #starting: ScriptWorker | undefined
  #restart: Timer | undefined
  #stopped = false

  constructor(deps: LifecycleDeps) {
    this.#deps = deps
  }

  /** Loads the script. Throws a `ScriptLoadError` if there is one and it cannot be loaded. */
  async start(): Promise<void> {
    const { config, clock, log } = this.#deps
    this.#selection = config.enabled ? selectEntrypoint(config) : undefined
    if (!this.#selection) {
      this.#advance('nothing_to_run')
      return
    }
    this.#advance('load_started')
    const startedMs = clock.monotonicMs()
    try {
      const [worker, loaded] = await this.#startWorker(this.#selection)
      this.#advance('candidate_accepted')
      this.#serve(worker, loaded, { reason: 'boot', startedMs })
      this.#advance('swapped')
    } catch (error) {
      this.#advance('candidate_rejected')
      this.#showActivation({ reason: 'boot', startedMs }, error)
      if (!config.hot_reload) throw error
      log.error('the script cannot be loaded', { error })
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#restart?.cancel()
    const workers = [this.#serving?.worker, this.#starting]
    this.#serving = undefined
    this.#deps.dispatcher.detach()
    await Promise.all(workers.map((worker) => worker?.stop()))
  }

  get handlers(): Handlers | undefined {
    return this.#serving?.handlers
  }

  /** The hooks of the script that served last, also while no worker serves. */
  get lastHooks(): Handlers['hooks'] {
    return this.#lastHooks
  }

  /** What the gateway asks for every message must not search a list. */
  handlesKind(kind: number): boolean {
    return this.#serving?.kinds.has(kind) ?? false
  }

  handlesMethod(method: string): boolean {
    return this.#serving?.methods.has(method) ?? false
  }

  get selection(): Selection | undefined {
    return this.#selection
  }

  get generation(): number {
    return this.#generation
  }

  get revision(): string | null {
    return this.#revision?.id ?? null
  }

  readiness(): { state: ReadinessState; since_unix_millis: number } {
    const { state, since_unix_millis } = this.#readiness
    return { state: state === 'boot' ? 'no_script' : state, since_unix_millis }
  }

  recovery() {
    return {
      circuit_open: this.#recovery.circuitOpen,
      consecutive_failures: shownFailures(this.#recovery, this.#deps.clock.monotonicMs()),
      restart_limit: this.#deps.config.restart_limit,
    }
  }

  #advance(event: ReadinessEvent): void {
    this.#readiness = advance(this.#readiness, event, this.#deps.clock.nowUnixMs())
  }

  async #startWorker(selection: Selection): Promise<[ScriptWorker, Loaded]> {
    const { config, processClock, log, dispatcher } = this.#deps
    const files = this.#revision?.files ?? (await filesToHandOver(selection, config.scripts_dir))
    const worker = new ScriptWorker({
      program: selection.engine,
      settings: {
        scriptsDir: realDirectory(config.scripts_dir),
        nodeId: this.#deps.nodeId,
        deadlineMs: config.deadline_ms,
        tickDeadlineMs: tickDeadlineMs(config),
        callTimeoutMs: config.call_timeout_ms,
        memoryMb: config.memory_mb,
        tier: config.tier,
        lines: this.#deps.lines,
        now: this.#deps.nodeTime(),
      },
      environment: scriptEnvironment(this.#deps.environment),
      loadTimeoutMs: config.load_timeout_ms,
      clock: processClock,
      log,
      output: (batch) => dispatcher.receive(batch),
      ended: (end) => this.#workerEnded(end),
    })
    this.#starting = worker
    const loaded = await worker.load({
      type: 'load',
      entry: selection.file,
      generation: this.#generation + 1,
      files,
    })
    this.#starting = undefined
    return [worker, { ...loaded, files: files ?? loaded.files }]
  }

  #serve(worker: ScriptWorker, { handlers, files }: Loaded, start: Start): void {
    const { clock, dispatcher, log } = this.#deps
    const revision = this.#revision ?? { id: revisionId(files), files }
    this.#revision = revision
    this.#generation += 1
    this.#recovery = afterStart(this.#recovery, clock.monotonicMs())
    const kinds = new Set(handlers.message_kinds)
    this.#serving = { worker, handlers, kinds, methods: new Set(handlers.rpcs) }
    this.#lastHooks = handlers.hooks
    dispatcher.attach(worker, revision.id)
    this.#deps.serves(handlers)
    const { reason } = start
    log.info('the script serves', {
      revision_id: revision.id,
      generation: this.#generation,
      reason,
    })
    this.#showActivation(start)
    if (!handlers.hooks.includes('on_start')) {
      dispatcher.startTimers()
      return
    }
    const text = JSON.stringify({ reason })
    const about = { context: nobody, origin: 'server', text } as const
    const settle = () => dispatcher.startTimers()
    dispatcher.call({ hook: hookCode.on_start, ...about, settle })
  }

  #workerEnded({ reason, overdue }: WorkerEnd): void {
    const { clock, config, dispatcher } = this.#deps
    this.#serving = undefined
    dispatcher.detach(overdue)
    this.#deps.workerLost(this.#generation)
    this.#recovery = afterFailure(this.#recovery, clock.monotonicMs(), config)
    this.#advance('worker_failed')
    this.#record(reason)
    if (this.#recovery.circuitOpen) this.#openCircuit()
    this.#scheduleRestart()
  }

  #scheduleRestart(): void {
    const { clock, config } = this.#deps
    if (this.#stopped) return
    this.#restart = clock.after(delayMs(this.#recovery, config), () => void this.#attempt())
  }

  async #attempt(): Promise<void> {
    const { clock, config, metrics } = this.#deps
    if (!this.#selection) return
    const probing = this.#recovery.circuitOpen
    metrics.restarts += 1
    const startedMs = clock.monotonicMs()
    try {
      const [worker, loaded] = await this.#startWorker(this.#selection)
      if (this.#stopped) return await worker.stop()
      this.#serve(worker, loaded, { reason: 'restart', startedMs })
      this.#advance(probing ? 'probe_succeeded' : 'restarted')
    } catch (error) {
      if (this.#stopped) return
      this.#recovery = afterFailedAttempt(this.#recovery, config)
      this.#record('it could not be started again', error)
      if (!probing && this.#recovery.circuitOpen) this.#openCircuit()
      else if (!probing) this.#advance('restart_failed')
      this.#scheduleRestart()
    }
  }

  /** Of a worker that served, or that was to serve again. */
  #record(reason: string, error?: unknown): void {
    const { consecutive_failures } = this.recovery()
    this.#deps.journal.record({
      category: 'worker',
      component: 'script',
      place: reason,
      error,
      fields: { revision_id: this.revision, reason, consecutive_failures },
    })
  }

  /** For operators: what serves from now on, or why the script that was loaded does not. */
  #showActivation({ reason, startedMs }: Start, rejection?: unknown): void {
    const { clock, view } = this.#deps
    const isRejected = rejection !== undefined
    view.activated({
      at_unix_ms: clock.nowUnixMs(),
      outcome: isRejected ? 'rejected' : 'active',
      reason,
      revision_id: isRejected ? null : this.revision,
      generation: this.#generation,
      files: [],
      duration_ms: Math.round(clock.monotonicMs() - startedMs),
      problem: isRejected
        ? String(rejection instanceof Error ? rejection.message : rejection)
        : null,
    })
  }

  #openCircuit(): void {
    this.#advance('circuit_opened')
    this.#deps.log.error('the script fails again and again and is now only probed', {
      consecutive_failures: this.#recovery.consecutiveFailures,
    })
  }
}

function realDirectory(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

/**
 * What of its environment the node keeps from the script: its configuration, and what makes Node
 * report each module that a process loads. `node --watch` sets that for the node; a worker would
 * write its reports between the messages to its own node.
 */
const withheld = /^guildhall_|^watch_report_dependencies$/i

function scriptEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const entries = Object.entries(environment)
  return Object.fromEntries(entries.filter(([name]) => !withheld.test(name)))
}

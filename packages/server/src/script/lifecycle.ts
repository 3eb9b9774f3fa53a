import { existsSync, realpathSync } from 'node:fs'
import type { Clock, Timer } from '../kernel/clock.ts'
import type { ErrorJournal } from '../kernel/errors/error-journal.ts'
import type { Log } from '../kernel/log/log.ts'
import { type ScriptConfig, tickDeadlineMs } from './config.ts'
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
import type { Router } from './serving/router.ts'
import type { ServingScript } from './serving/serving-script.ts'
import type { FailuresView } from './view/failures-view.ts'
import type { Handlers } from './wire/hooks.ts'
import type { LineSettings, NodeTime, StartReason } from './wire/protocol.ts'
import { revisionId, type ScriptFile } from './wire/revision.ts'

export type LifecycleDeps = {
  config: ScriptConfig
  clock: Clock
  log: Log
  journal: Pick<ErrorJournal, 'record'>
  router: Router
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
  /** A script before its worker has loaded it. */
  createScript(): ServingScript
  /** Called when the calls of a script begin to be taken, those of its on_start included. */
  serves(handlers: Handlers): void
}

/** A script that has loaded once: what a restart loads again. */
type Revision = { readonly id: string; readonly files: readonly ScriptFile[] }

/** Why a script is loaded, and since when. */
type Start = { readonly reason: StartReason; readonly startedMs: number }

/** A script that its worker has loaded. */
type Candidate = {
  readonly script: ServingScript
  readonly worker: ScriptWorker
} & Pick<Loaded, 'handlers' | 'files'>

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
  /** Which script calls go to, once it has taken them up. */
  #serving: ServingScript | undefined
  #lastHooks: Handlers['hooks'] = []
  #workers = new Set<ScriptWorker>()
  #isLoading = false
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
    const start: Start = { reason: 'boot', startedMs: clock.monotonicMs() }
    try {
      const candidate = await this.#load(this.#selection)
      this.#advance('candidate_accepted')
      await this.#boot(candidate, start)
    } catch (error) {
      this.#advance('candidate_rejected')
      this.#showActivation(start, error)
      if (!config.hot_reload) throw error
      log.error('the script cannot be loaded', { error })
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#restart?.cancel()
    this.#serving = undefined
    const { router } = this.#deps
    if (router.active) router.end(router.active)
    await Promise.all([...this.#workers].map((worker) => worker.stop()))
  }

  get handlers(): Handlers | undefined {
    return this.#serving?.identity.handlers
  }

  /** The hooks of the script that served last, also while no worker serves. */
  get lastHooks(): Handlers['hooks'] {
    return this.#lastHooks
  }

  /** What the gateway asks for every message must not search a list. */
  handlesKind(kind: number): boolean {
    return this.#serving?.handlesKind(kind) ?? false
  }

  handlesMethod(method: string): boolean {
    return this.#serving?.handlesMethod(method) ?? false
  }

  /** Whether a worker is being started. */
  get isLoading(): boolean {
    return this.#isLoading
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

  async #load(selection: Selection): Promise<Candidate> {
    this.#isLoading = true
    const script = this.#deps.createScript()
    const worker = this.#createWorker(selection, script)
    this.#workers.add(worker)
    try {
      const { scripts_dir } = this.#deps.config
      const known = this.#revision?.files ?? (await filesToHandOver(selection, scripts_dir))
      const { handlers, files } = await worker.load({
        type: 'load',
        entry: selection.file,
        generation: this.#generation + 1,
        files: known,
      })
      return { script, worker, handlers, files: known ?? files }
    } catch (error) {
      this.#workers.delete(worker)
      await worker.stop()
      throw error
    } finally {
      this.#isLoading = false
    }
  }

  #createWorker(selection: Selection, script: ServingScript): ScriptWorker {
    const { config, processClock, log } = this.#deps
    const worker: ScriptWorker = new ScriptWorker({
      program: selection.engine,
      settings: {
        scriptsDir: realDirectory(config.scripts_dir),
        nodeId: this.#deps.nodeId,
        deadlineMs: config.deadline_ms,
        tickDeadlineMs: tickDeadlineMs(config),
        callTimeoutMs: config.call_timeout_ms,
        memoryMb: config.memory_mb,
        tier: config.tier,
        packageDir: selection.packageDir,
        lines: this.#deps.lines,
        now: this.#deps.nodeTime(),
      },
      environment: scriptEnvironment(this.#deps.environment),
      loadTimeoutMs: config.load_timeout_ms,
      clock: processClock,
      log,
      output: (batch) => script.receive(batch),
      ended: (end) => {
        this.#workers.delete(worker)
        this.#scriptEnded(script, end)
      },
    })
    return worker
  }

  /** The first script serves when its on_start has settled, however that ended. */
  async #boot(candidate: Candidate, start: Start): Promise<void> {
    await this.#activate(candidate, 'boot')
    // Its worker may have ended meanwhile.
    if (this.#stopped || this.#deps.router.active !== candidate.script) return
    this.#serve(candidate.script, start)
    this.#advance('swapped')
  }

  /** Calls go to this script from here on. Resolves when its on_start has settled. */
  #activate(candidate: Candidate, reason: StartReason): Promise<void> {
    const { clock, config, router } = this.#deps
    const { script, worker, handlers, files } = candidate
    this.#revision ??= { id: revisionId(files), files }
    this.#generation += 1
    this.#recovery = afterStart(this.#recovery, clock.monotonicMs())
    this.#lastHooks = handlers.hooks
    const identity = { revision_id: this.#revision.id, generation: this.#generation, handlers }
    const settled = script.start(worker, identity, reason)
    router.activate(script, { bindsRooms: config.require_script })
    this.#deps.serves(handlers)
    return settled
  }

  #serve(script: ServingScript, start: Start): void {
    this.#serving = script
    const { revision_id, generation } = script.identity
    this.#deps.log.info('the script serves', { revision_id, generation, reason: start.reason })
    this.#showActivation(start)
  }

  #scriptEnded(script: ServingScript, { reason, overdue }: WorkerEnd): void {
    const { clock, config, router } = this.#deps
    const wasServing = this.#serving === script
    this.#serving = undefined
    router.end(script, overdue)
    this.#deps.workerLost(script.identity.generation)
    this.#recovery = afterFailure(this.#recovery, clock.monotonicMs(), config)
    this.#advance(wasServing ? 'worker_failed' : 'swap_failed')
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
    const start: Start = { reason: 'restart', startedMs: clock.monotonicMs() }
    try {
      const candidate = await this.#load(this.#selection)
      if (this.#stopped) return
      // Calls wait until its on_start has settled.
      void this.#activate(candidate, 'restart')
      this.#serve(candidate.script, start)
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

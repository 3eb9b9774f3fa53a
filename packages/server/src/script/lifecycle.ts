import type { ScriptActivation } from '@guildhall/contract'
import type { Clock, Timer } from '../kernel/clock.ts'
import { InspectorDoor } from '../kernel/control/inspector-door.ts'
import { addressRefused } from '../kernel/errors/address-refused.ts'
import type { ErrorJournal } from '../kernel/errors/error-journal.ts'
import type { ScriptMetrics } from './metrics.ts'
import { type Selection, selectEntrypoint } from './process/languages.ts'
import { afterFailedAttempt, afterFailure, delayMs } from './process/recovery.ts'
import type { ScriptWorker, WorkerEnd } from './process/script-worker.ts'
import type { ReadinessState } from './readiness.ts'
import type { Activations, Start } from './reload/activations.ts'
import { CandidateFinder } from './reload/candidate-finder.ts'
import { Candidates } from './reload/candidates.ts'
import { excerpt } from './reload/excerpt.ts'
import { FormerScript } from './reload/former-script.ts'
import { Predecessor } from './reload/predecessor.ts'
import {
  type LoadedScript,
  type Revision,
  ScriptWorkers,
  type ScriptWorkersDeps,
} from './reload/script-workers.ts'
import { Stage } from './reload/stage.ts'
import type { Router } from './serving/router.ts'
import type { ServingScript } from './serving/serving-script.ts'
import type { Handlers } from './wire/hooks.ts'

export type LifecycleDeps = Omit<ScriptWorkersDeps, 'ended'> & {
  clock: Clock
  journal: Pick<ErrorJournal, 'record'>
  router: Router
  metrics: ScriptMetrics
  activations: Activations
  /** Where a debugger attaches to the script that serves; absent, nowhere. */
  inspectAt?: { readonly host: string; readonly port: number } | undefined
  /** Called when calls begin to go to a script, those of its on_start included. */
  serves(handlers: Handlers): void
  /** Called when calls go to no script any more. */
  servesNoMore(): void
  /** Closes the rooms that are bound to this generation. */
  closeRooms(generation: number): void
}

/**
 * From boot to stop: which script serves, when a failed one is started again, and when another one
 * is to take its place.
 */
export class Lifecycle {
  readonly #deps: LifecycleDeps
  readonly #stage: Stage
  readonly #workers: ScriptWorkers
  readonly #finder: CandidateFinder
  readonly #former: FormerScript
  readonly #predecessor = new Predecessor()
  readonly #candidates: Candidates
  readonly #inspector: InspectorDoor | undefined
  /** What was selected at the start. */
  #selection: Selection | undefined
  #restart: Timer | undefined
  /** Ends the restart that is under way. */
  #attempt: AbortController | undefined
  /** Candidates come one after the other. */
  #turn: Promise<unknown> = Promise.resolve()
  #hasCandidate = false
  /** A signal whose candidate waits for its turn. */
  #signalled: Promise<ScriptActivation> | undefined
  #stopped = false

  constructor(deps: LifecycleDeps) {
    this.#deps = deps
    const ended = this.#scriptEnded.bind(this)
    const workers = new ScriptWorkers({ ...deps, ended })
    const stage = new Stage(deps)
    const finder = new CandidateFinder({
      ...deps,
      workers,
      serving: () => stage.revision?.files ?? [],
      changed: async () => void (await this.#followSafely('reload')),
    })
    this.#former = new FormerScript({ ...deps, workers })
    const parts = { stage, workers, finder, former: this.#former, predecessor: this.#predecessor }
    const isStopped = () => this.#stopped
    const { inspectAt: address, log } = deps
    // While none serves, one may be about to, or to fail at its top level.
    const target = () => stage.serving?.worker ?? workers.newest
    this.#inspector = address && new InspectorDoor({ address, log, target })
    const letGo = (worker: ScriptWorker) => this.#inspector?.letGo(worker)
    this.#candidates = new Candidates({ ...deps, ...parts, letGo, isStopped, ended })
    this.#stage = stage
    this.#workers = workers
    this.#finder = finder
  }

  /** Loads the script. Throws a `ScriptLoadError` if there is one and it cannot be loaded. */
  async start(): Promise<void> {
    const { config } = this.#deps
    this.#selection = config.enabled ? selectEntrypoint(config) : undefined
    if (config.enabled) {
      await this.#inspector?.listen().catch(addressRefused('runtime.inspect'))
    }
    if (this.#selection) await this.#inTurn(() => this.#boot())
    else this.#stage.advance('nothing_to_run')
    if (config.enabled && config.hot_reload) await this.#finder.watch()
  }

  /** Runs the on_unload of the script that serves, before the node stops. */
  async unload(): Promise<void> {
    const serving = this.#stage.serving
    if (!serving?.handlers.hooks.includes('on_unload')) return
    await serving.script.onceStarted()
    await serving.script.unload('stop')
  }

  /** The former script has nothing left to do. */
  finish(former: ServingScript): void {
    this.#former.finish(former)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#inspector?.close()
    this.#restart?.cancel()
    this.#finder.stop()
    const { router } = this.#deps
    await this.#former.end()
    this.#stage.leave()
    if (router.active) router.end(router.active)
    await this.#workers.endAll()
  }

  /**
   * Looks at the files once and loads what is there, also of equal content. Resolves to what came
   * of it; what is asked for while a candidate waits for its turn is that one.
   */
  reload(): Promise<ScriptActivation> {
    this.#signalled ??= this.#reload()
    return this.#signalled
  }

  /**
   * Where the CPU of the script that serves goes, as the text of a .cpuprofile.
   *
   * @throws when no script serves, or its engine cannot say
   */
  async profile(durationMs: number): Promise<string> {
    const { serving } = this.#stage
    if (serving === undefined) throw new Error('no script serves')
    const profile = await serving.worker.profile(durationMs)
    if (profile === undefined) throw new Error('not for this engine')
    return profile
  }

  /** CPU of the script's processes since the node started. */
  get cpuSeconds(): number {
    return this.#workers.cpuSeconds
  }

  /** Undefined while no script has taken up its calls. */
  get handlers(): Handlers | undefined {
    return this.#stage.serving?.handlers
  }

  /** The hooks of the script that served last, also while no worker serves. */
  get lastHooks(): Handlers['hooks'] {
    return this.#stage.lastHooks
  }

  /** Whether a worker is being started. */
  get isLoading(): boolean {
    return this.#workers.isLoading || this.#hasCandidate
  }

  get selection(): Selection | undefined {
    return this.#stage.revision?.selection ?? this.#selection
  }

  get generation(): number {
    return this.#stage.generation
  }

  get revision(): string | null {
    return this.#stage.revision?.id ?? null
  }

  /** The lines around a place `FILE:LINE` of a revision, if it is the one that served last. */
  sourceAt(revision_id: string, place: string): string | undefined {
    const { revision } = this.#stage
    if (revision?.id !== revision_id) return undefined
    const [, file = '', line] = /^(.*):(\d+)$/.exec(place) ?? []
    return excerpt(revision.files, file, Number(line))
  }

  readiness(): { state: ReadinessState; since_unix_millis: number } {
    return this.#stage.readiness
  }

  recovery() {
    return {
      circuit_open: this.#stage.recovery.circuitOpen,
      consecutive_failures: this.#stage.shownFailures,
      restart_limit: this.#deps.config.restart_limit,
    }
  }

  async #boot(): Promise<void> {
    const failed = await this.#candidates.boot()
    if (failed === undefined) return
    if (!this.#deps.config.hot_reload) throw failed.problem
    failed.reject()
  }

  async #reload(): Promise<ScriptActivation> {
    const { activations, config } = this.#deps
    const start = activations.begin('signal')
    const done = config.enabled ? await this.#followSafely('signal') : undefined
    if (done !== undefined) return done
    const problem = config.enabled ? 'the node stops, or its worker failed' : 'the runtime is off'
    const { generation } = this
    return activations.rejected(start, { problem, content: [], files: [], generation })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => {})
    return done
  }

  /** Never rejects: what goes wrong in here is an error of the node, and no reason to end it. */
  async #followSafely(reason: 'reload' | 'signal'): Promise<ScriptActivation | undefined> {
    try {
      return await this.#try(reason)
    } catch (error) {
      this.#deps.journal.record({ category: 'script', component: 'script', error })
      return undefined
    }
  }

  /** While a candidate is tried, nothing is started again. */
  #try(
    reason: 'reload' | 'signal' | 'rollback',
    rollback?: { readonly failing: Revision; readonly before: Revision },
  ): Promise<ScriptActivation | undefined> {
    return this.#inTurn(async () => {
      if (reason === 'signal') this.#signalled = undefined
      if (this.#stopped) return undefined
      // Another one has taken the place of the failing one meanwhile.
      if (rollback && rollback.failing !== this.#stage.revision) return undefined
      this.#hasCandidate = true
      this.#restart?.cancel()
      this.#attempt?.abort()
      try {
        return await this.#candidates.try(reason, rollback?.before)
      } finally {
        this.#hasCandidate = false
        this.#recover()
      }
    })
  }

  #scriptEnded(script: ServingScript, end: WorkerEnd): void {
    const { clock, config, router } = this.#deps
    // The former one is nobody's loss but its rooms'.
    if (this.#former.lost(script, end)) return
    if (router.active !== script) {
      // Who tries the candidate learns it from what was open.
      script.end(end.overdue)
      return
    }
    const stage = this.#stage
    const wasServing = stage.serving?.script === script
    stage.leave()
    router.end(script, end.overdue)
    this.#deps.closeRooms(script.identity.generation)
    stage.recover(afterFailure(stage.recovery, clock.monotonicMs(), config))
    stage.advance(wasServing ? 'worker_failed' : 'swap_failed')
    this.#record(end.reason)
    if (stage.recovery.circuitOpen) this.#openCircuit()
    this.#afterFailure()
  }

  #afterFailure(): void {
    this.#predecessor.failed(this.#deps.clock.monotonicMs(), this.#stage.recovery)
    this.#recover()
  }

  /** Starts what has failed again, unless a candidate is tried, which may take its place. */
  #recover(): void {
    const { clock, config } = this.#deps
    const { state, recovery, revision } = this.#stage
    this.#restart?.cancel()
    if (this.#stopped || this.#hasCandidate || revision === undefined) return
    if (state !== 'degraded' && !recovery.circuitOpen) return
    if (this.#predecessor.isWanted) {
      this.#rollBack(revision)
      return
    }
    this.#restart = clock.after(delayMs(recovery, config), () => void this.#attemptStart(revision))
  }

  /** A revision that fails soon after a reload gives way to the one before it. */
  #rollBack(failing: Revision): void {
    const { activations } = this.#deps
    const { generation } = this.#stage
    const before = this.#predecessor.takeFor(failing)
    if (before === undefined) return
    const problem = 'it failed again and again soon after it took over'
    const rejected = { problem, content: failing.files, files: [], generation }
    activations.rejected(activations.begin('reload'), rejected)
    void this.#try('rollback', { failing, before })
  }

  async #attemptStart(revision: Revision): Promise<void> {
    const { config, metrics, activations } = this.#deps
    const stage = this.#stage
    const probing = stage.recovery.circuitOpen
    metrics.restarts += 1
    const start = activations.begin('restart')
    const attempt = new AbortController()
    this.#attempt = attempt
    const found = await this.#workers.load(revision, stage.generation + 1, attempt.signal)
    if (this.#stopped || attempt.signal.aborted) return
    this.#attempt = undefined
    if ('loaded' in found) {
      this.#serveAgain(found, start, probing)
      return
    }
    stage.recover(afterFailedAttempt(stage.recovery, config))
    this.#record('it could not be started again', found.problem)
    if (!probing && stage.recovery.circuitOpen) this.#openCircuit()
    else if (!probing) stage.advance('restart_failed')
    this.#afterFailure()
  }

  /** Calls wait until its on_start has settled. */
  #serveAgain({ loaded }: { loaded: LoadedScript }, start: Start, probing: boolean): void {
    const { router, config, activations } = this.#deps
    const stage = this.#stage
    const identity = stage.nextIdentity(loaded)
    stage.enter(loaded)
    void loaded.script.start(loaded.worker, identity, { reason: 'restart' })
    router.activate(loaded.script, { bindsRooms: config.require_script })
    stage.serve(loaded)
    activations.active(start, identity)
    stage.advance(probing ? 'probe_succeeded' : 'restarted')
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

  #openCircuit(): void {
    this.#stage.advance('circuit_opened')
    this.#deps.log.error('the script fails again and again and is now only probed', {
      consecutive_failures: this.#stage.recovery.consecutiveFailures,
    })
  }
}

import type { ScriptActivation } from '@guildhall/contract'
import type { Clock } from '../../kernel/clock.ts'
import type { ScriptConfig } from '../config.ts'
import type { ScriptMetrics } from '../metrics.ts'
import { ScriptLoadError } from '../process/load-error.ts'
import type { ScriptWorker, WorkerEnd } from '../process/script-worker.ts'
import type { Router } from '../serving/router.ts'
import type { ServingScript } from '../serving/serving-script.ts'
import { changedFiles } from '../wire/revision.ts'
import type { Activations, Start } from './activations.ts'
import { type CandidateFinder, type Found, filesOf } from './candidate-finder.ts'
import type { FormerScript } from './former-script.ts'
import { type HandedOver, handOver } from './hand-over.ts'
import type { Predecessor } from './predecessor.ts'
import type { LoadedScript, Revision, ScriptWorkers } from './script-workers.ts'
import type { Stage } from './stage.ts'

export type CandidateDeps = {
  config: Pick<ScriptConfig, 'require_script' | 'hand_over_ms' | 'call_timeout_ms'>
  clock: Clock
  processClock: Clock
  router: Router
  metrics: Pick<ScriptMetrics, 'reloads' | 'reloadRejections'>
  activations: Activations
  stage: Stage
  workers: ScriptWorkers
  finder: CandidateFinder
  former: FormerScript
  predecessor: Predecessor
  /** Debuggers let go of a worker: what they hold would keep another one from taking over. */
  letGo(worker: ScriptWorker): void
  isStopped(): boolean
  /** The worker of a script that calls go to has ended. */
  ended(script: ServingScript, end: WorkerEnd): void
}

const endedEarly: WorkerEnd = { reason: 'it ended before it took over', overdue: undefined }

/**
 * Scripts that are to take the place of the one that serves, one at a time: each is loaded beside
 * it, and takes over in one moment or changes nothing.
 */
export class Candidates {
  readonly #deps: CandidateDeps

  constructor(deps: CandidateDeps) {
    this.#deps = deps
  }

  /** The first script of the node. Answers with why there is none, if there should be one. */
  async boot(): Promise<{ problem: unknown; reject(): void } | undefined> {
    const { activations, stage, finder } = this.#deps
    const start = activations.begin('boot')
    stage.advance('load_started')
    const found = await finder.find(1)
    if ('loaded' in found) {
      await this.#takeUp(found.loaded, start)
      return undefined
    }
    stage.advance('candidate_rejected')
    return { problem: problemOf(found), reject: () => void this.#reject(found, start) }
  }

  /**
   * Loads a candidate and lets it take over. Answers with what came of it; undefined for one that
   * serves already, and when the node stops.
   *
   * @param given a revision that was read before; otherwise the files decide
   */
  async try(
    reason: 'reload' | 'signal' | 'rollback',
    given?: Revision,
  ): Promise<ScriptActivation | undefined> {
    const { activations, stage, finder, workers } = this.#deps
    const start = activations.begin(reason)
    stage.advance('load_started')
    const found = await finder.find(stage.generation + 1, given)
    if (this.#deps.isStopped()) return undefined
    if (!('loaded' in found)) return this.#refuse(found, start)
    const { loaded } = found
    const isKnown = reason === 'reload' && this.#isKnown(loaded.revision)
    if (!isKnown) return await this.#swap(loaded, start)
    await workers.end(loaded.worker)
    return stage.state === 'validating' ? this.#refuse(found, start) : undefined
  }

  /** It serves already, or a rollback has given it up. */
  #isKnown({ id }: Revision): boolean {
    const { stage, predecessor } = this.#deps
    const serves = stage.serving !== undefined && id === stage.revision?.id
    return serves || predecessor.hasGivenUp(id)
  }

  /** What has not become a candidate changes nothing. */
  #refuse(found: Found, start: Start): ScriptActivation {
    const { stage } = this.#deps
    const hasNone = 'missing' in found && stage.revision === undefined
    if (stage.state === 'validating') {
      stage.advance(hasNone ? 'candidate_missing' : 'candidate_rejected')
    }
    return this.#reject(found, start)
  }

  #reject(found: Found, start: Start, problem = problemOf(found)): ScriptActivation {
    const { metrics, activations, stage } = this.#deps
    if (start.reason !== 'boot') metrics.reloadRejections += 1
    const content = filesOf(found)
    const files = changedFiles(stage.revision?.files ?? [], content)
    return activations.rejected(start, { problem, content, files, generation: stage.generation })
  }

  async #swap(loaded: LoadedScript, start: Start): Promise<ScriptActivation | undefined> {
    const { stage, workers, letGo } = this.#deps
    const old = stage.serving
    if (old === undefined) return await this.#takeUp(loaded, start)
    letGo(old.worker)
    // What has not started yet has no state to hand over.
    await old.script.onceStarted()
    const { started, problem } = await this.#handOver(old, loaded, start)
    if (this.#deps.isStopped()) return undefined
    const isOldAlive = stage.serving === old
    const isFreshAlive = loaded.worker.isAlive
    if (!isOldAlive) {
      // It failed meanwhile, so there is nothing to go back to.
      return started && isFreshAlive ? this.#takeOver(loaded, start) : this.#takeUp(loaded, start)
    }
    if (problem === undefined && isFreshAlive) return this.#takeOver(loaded, start, old)
    if (!isFreshAlive) {
      stage.advance('candidate_accepted')
      stage.advance('swap_failed_old_alive')
    }
    old.script.resume()
    loaded.script.end()
    await workers.end(loaded.worker)
    const reason = isFreshAlive ? problem : 'its worker ended before it took over'
    const found = { loaded, asked: new Map<string, Uint8Array>(), folders: [] }
    return this.#reject(found, start, reason)
  }

  async #handOver(old: LoadedScript, loaded: LoadedScript, { reason }: Start): Promise<HandedOver> {
    // Nothing waits for one that is gone already.
    if (!loaded.worker.isAlive) return { started: false }
    const { config, processClock, stage } = this.#deps
    const identity = stage.nextIdentity(loaded)
    const fresh = {
      hooks: loaded.handlers.hooks,
      start: loaded.script.start.bind(loaded.script, loaded.worker, identity),
    }
    const why = reason === 'rollback' ? 'rollback' : 'reload'
    const bindsRooms = config.require_script
    const between = { old: old.script, fresh, reason: why, bindsRooms } as const
    return handOver(between, { clock: processClock, config })
  }

  /** From one moment on new calls go to it. */
  #takeOver(loaded: LoadedScript, start: Start, old?: LoadedScript): ScriptActivation {
    const { stage, former, router, config, letGo } = this.#deps
    const files = changedFiles(stage.revision?.files ?? [], loaded.revision.files)
    this.#accept()
    this.#succeed(loaded, start)
    if (old !== undefined) {
      // At most one old worker lives beside the one that serves.
      void former.end()
      former.keep(old)
      letGo(old.worker)
    }
    stage.enter(loaded)
    router.activate(loaded.script, { bindsRooms: config.require_script })
    return this.#serve(loaded, start, files)
  }

  /** Without another one it serves when its on_start has settled, however that ended. */
  async #takeUp(loaded: LoadedScript, start: Start): Promise<ScriptActivation | undefined> {
    const { stage, router, config } = this.#deps
    const files = changedFiles(stage.revision?.files ?? [], loaded.revision.files)
    this.#accept()
    if (start.reason !== 'boot') this.#succeed(loaded, start)
    const identity = stage.nextIdentity(loaded)
    stage.enter(loaded)
    const reason = start.reason === 'signal' ? 'reload' : start.reason
    const settled = loaded.script.start(loaded.worker, identity, { reason })
    router.activate(loaded.script, { bindsRooms: config.require_script })
    if (!loaded.worker.isAlive) this.#deps.ended(loaded.script, endedEarly)
    await settled
    // Its worker may have ended meanwhile.
    if (this.#deps.isStopped() || router.active !== loaded.script) return undefined
    return this.#serve(loaded, start, files)
  }

  #serve(loaded: LoadedScript, start: Start, files: readonly string[]): ScriptActivation {
    const { stage, activations, metrics } = this.#deps
    stage.serve(loaded)
    stage.swapped()
    if (start.reason !== 'boot') metrics.reloads += 1
    return activations.active(start, loaded.script.identity, start.reason === 'boot' ? [] : files)
  }

  #accept(): void {
    const { stage } = this.#deps
    // The circuit opened while it was loaded.
    if (stage.state === 'unavailable') stage.advance('load_started')
    stage.advance('candidate_accepted')
  }

  #succeed({ revision }: LoadedScript, { reason }: Start): void {
    const { predecessor, stage, clock } = this.#deps
    if (reason !== 'rollback') predecessor.succeed(stage.revision, revision, clock.monotonicMs())
  }
}

function problemOf(found: Found): unknown {
  if ('problem' in found) return found.problem
  return new ScriptLoadError({
    message: 'missing' in found ? 'there is no entry file' : 'a rollback has given it up',
  })
}

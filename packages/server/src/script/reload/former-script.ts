import type { Clock, Timer } from '../../kernel/clock.ts'
import type { ScriptConfig } from '../config.ts'
import type { WorkerEnd } from '../process/script-worker.ts'
import type { Router } from '../serving/router.ts'
import type { ServingScript } from '../serving/serving-script.ts'
import type { LoadedScript, ScriptWorkers } from './script-workers.ts'

type FormerDeps = {
  config: Pick<ScriptConfig, 'require_script' | 'reload_drain_ms' | 'call_timeout_ms'>
  processClock: Clock
  router: Router
  workers: ScriptWorkers
  /** Closes the rooms that are bound to this generation. */
  closeRooms(generation: number): void
}

/**
 * The script that served before, while it has something to do: calls of its own, or rooms that are
 * bound to it. It has its time; then its rooms are closed, and what is open has taken too long.
 */
export class FormerScript {
  readonly #deps: FormerDeps
  #kept: LoadedScript | undefined
  #timer: Timer | undefined

  constructor(deps: FormerDeps) {
    this.#deps = deps
  }

  /** Another script is active from here on. */
  keep(loaded: LoadedScript): void {
    const { config, processClock } = this.#deps
    this.#kept = loaded
    this.#timer = config.require_script
      ? processClock.after(config.reload_drain_ms, () => this.#drained())
      : processClock.after(config.call_timeout_ms, () => void this.end())
  }

  /** It has nothing left to do. */
  finish(script: ServingScript): void {
    if (this.#kept?.script === script) void this.end()
  }

  /** Its worker has ended by itself. False for every other script. */
  lost(script: ServingScript, { overdue }: WorkerEnd): boolean {
    if (this.#kept?.script !== script) return false
    this.#forget()
    this.#deps.router.end(script, overdue)
    this.#deps.closeRooms(script.identity.generation)
    return true
  }

  /** Ends it now. */
  async end(): Promise<void> {
    const kept = this.#kept
    if (kept === undefined) return
    const { config, router, workers } = this.#deps
    if (config.require_script) this.#deps.closeRooms(kept.script.identity.generation)
    this.#forget()
    kept.script.giveUp()
    router.end(kept.script)
    await workers.end(kept.worker)
  }

  /** Its rooms had their time; their last hooks have that of a call. */
  #drained(): void {
    const kept = this.#kept
    if (kept === undefined) return
    const { config, processClock } = this.#deps
    this.#timer = processClock.after(config.call_timeout_ms, () => void this.end())
    this.#deps.closeRooms(kept.script.identity.generation)
  }

  #forget(): void {
    this.#timer?.cancel()
    this.#kept = undefined
  }
}

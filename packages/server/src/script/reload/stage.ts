import type { Clock } from '../../kernel/clock.ts'
import { afterStart, firstRecovery, type Recovery, shownFailures } from '../process/recovery.ts'
import { advance, type Readiness, type ReadinessEvent, type ReadinessState } from '../readiness.ts'
import type { Identity } from '../serving/identity.ts'
import type { Handlers } from '../wire/hooks.ts'
import type { LoadedScript, Revision } from './script-workers.ts'

type StageDeps = {
  clock: Clock
  /** Called when calls begin to go to a script, those of its on_start included. */
  serves(handlers: Handlers): void
  /** Called when calls go to no script any more. */
  servesNoMore(): void
}

/** What serves on this node: how ready it is, and which revision and generation it has. */
export class Stage {
  readonly #deps: StageDeps
  #readiness: Readiness = { state: 'boot', since_unix_millis: 0 }
  #recovery: Recovery = firstRecovery
  #revision: Revision | undefined
  #generation = 0
  #serving: LoadedScript | undefined
  #lastHooks: Handlers['hooks'] = []

  constructor(deps: StageDeps) {
    this.#deps = deps
  }

  get state(): Readiness['state'] {
    return this.#readiness.state
  }

  /** `boot` is never shown. */
  get readiness(): { state: ReadinessState; since_unix_millis: number } {
    const { state, since_unix_millis } = this.#readiness
    return { state: state === 'boot' ? 'no_script' : state, since_unix_millis }
  }

  get recovery(): Recovery {
    return this.#recovery
  }

  /** As an operator sees it. */
  get shownFailures(): number {
    return shownFailures(this.#recovery, this.#deps.clock.monotonicMs())
  }

  /** That of the script that serves or served last: what a restart loads. */
  get revision(): Revision | undefined {
    return this.#revision
  }

  get generation(): number {
    return this.#generation
  }

  /** Which script calls go to, once it has taken them up. */
  get serving(): LoadedScript | undefined {
    return this.#serving
  }

  /** The hooks of the script that served last, also while no worker serves. */
  get lastHooks(): Handlers['hooks'] {
    return this.#lastHooks
  }

  advance(event: ReadinessEvent): void {
    this.#readiness = advance(this.#readiness, event, this.#deps.clock.nowUnixMs())
  }

  recover(recovery: Recovery): void {
    this.#recovery = recovery
  }

  /** Who a script will be if it is the next one. */
  nextIdentity({ revision, handlers }: LoadedScript): Identity {
    return { revision_id: revision.id, generation: this.#generation + 1, handlers }
  }

  /** Calls go to this script from here on. */
  enter({ revision, handlers }: LoadedScript): void {
    this.#revision = revision
    this.#generation += 1
    this.#lastHooks = handlers.hooks
    this.#recovery = afterStart(this.#recovery, this.#deps.clock.monotonicMs())
    this.#deps.serves(handlers)
  }

  /** It has taken up its calls. */
  serve(loaded: LoadedScript): void {
    this.#serving = loaded
  }

  /** It has taken over, whatever had failed before. */
  swapped(): void {
    this.advance('swapped')
    this.#recovery = { ...firstRecovery, startedMs: this.#deps.clock.monotonicMs() }
  }

  /** Nothing serves any more. */
  leave(): void {
    this.#serving = undefined
    this.#deps.servesNoMore()
  }
}

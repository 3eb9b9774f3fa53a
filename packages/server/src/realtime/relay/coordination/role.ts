import type { Clock, Timer } from '../../../kernel/clock.ts'
import type { RoleDirectory } from '../../../kernel/cluster/directory.ts'
import type { Membership } from '../../../kernel/cluster/membership.ts'
import type { Log } from '../../../kernel/log/log.ts'

/** Who coordinates matchmaker and parties, in the generation of the role. */
export type Holder = { boot: string; generation: number }

export type RoleDeps = {
  directory: RoleDirectory
  membership: Membership
  clock: Clock
  log: Log
  /** Whether the other nodes can be heard; who cannot be does not take the role. */
  isReachable(): boolean
  /** Says to all that this node has the role, or has it no more. */
  announce(type: 'coordinates' | 'notCoordinating', generation: number): void
  /** This node has the role, and collects what the others have. */
  began(): void
  /** All have said what they have, or have had their time. */
  serves(): void
  /** This node has had the role; it still knows everything. */
  ended(): void
  /** Another node has it. */
  found(holder: Holder): void
}

const roleName = 'gatherings'
/** Edges have this long to say what they have, in milliseconds. */
const collectMs = 2000

/**
 * The role of the coordinator, as one node sees it. It is held as long as the node's lease.
 *
 * | state      | what it does                    | what comes next                               |
 * |------------|---------------------------------|-----------------------------------------------|
 * | elsewhere  | another one has it, or nobody   | collecting                                    |
 * | collecting | it waits for what the edges say | serving, elsewhere (no lease, another node)   |
 * | serving    | tickets and parties are here    | elsewhere (no lease, another node, it stops)  |
 */
export class CoordinatorRole {
  readonly #deps: RoleDeps
  #state: 'elsewhere' | 'collecting' | 'serving' = 'elsewhere'
  #holder: Holder | undefined
  #generation = 0
  #collecting: Timer | undefined
  #isLooking = false
  #isStopped = false
  readonly #waiting = new Set<() => void>()

  constructor(deps: RoleDeps) {
    this.#deps = deps
  }

  get state(): 'elsewhere' | 'collecting' | 'serving' {
    return this.#state
  }

  get isMine(): boolean {
    return this.#state !== 'elsewhere'
  }

  /** Whether tickets and parties are here, and nobody else can have taken them over. */
  get isServing(): boolean {
    return this.#state === 'serving' && this.#deps.membership.holdsLease()
  }

  /** The highest generation that was heard of; what is of an older one counts for nothing. */
  get generation(): number {
    return this.#generation
  }

  /** Another node that has the role, as far as is known. */
  get other(): Holder | undefined {
    return this.isMine ? undefined : this.#holder
  }

  /** Another node says that it has the role. */
  heard(holder: Holder): void {
    if (holder.generation < this.#generation) return
    if (this.#holder?.boot === holder.boot && this.#generation === holder.generation) return
    if (this.isMine) this.#end()
    this.#holder = holder
    this.#generation = holder.generation
    this.#deps.found(holder)
    this.#wake()
  }

  /** A node says that it has the role no more. */
  refused(boot: string): void {
    const holder = this.#holder
    if (this.isMine || holder?.boot !== boot) return
    this.#holder = undefined
    void this.#look(holder)
  }

  /** Looks whether all is as it should be; to be called every second and when nodes come and go. */
  check(): void {
    const { membership } = this.#deps
    if (this.isMine) {
      if (!membership.holdsLease()) this.#end()
      else if (membership.state === 'draining' && this.hasHeirs) void this.handOver()
      return
    }
    if (this.#holder !== undefined && membership.isThere(this.#holder.boot)) return
    this.#holder = undefined
    void this.#look()
  }

  /** All have said what they have. */
  collected(): void {
    if (this.#state !== 'collecting') return
    this.#collecting?.cancel()
    this.#state = 'serving'
    this.#deps.serves()
    this.#wake()
  }

  /** Whether another node would take the role. */
  get hasHeirs(): boolean {
    return this.#deps.membership.nodes().some((node) => {
      const isOther = node.boot_id !== this.#deps.membership.bootId
      return isOther && !node.isGone && node.state === 'live'
    })
  }

  /** Gives the role back, and says so. Does not take it again while others can. */
  async handOver(): Promise<void> {
    if (!this.isMine) return
    const { directory, membership } = this.#deps
    const generation = this.#generation
    this.#end()
    await directory
      .releaseRole(roleName, { holder: membership.bootId, generation })
      .catch((error) => this.#deps.log.warn('the role could not be given back', { error }))
    this.#deps.announce('notCoordinating', generation)
  }

  stop(): void {
    this.#isStopped = true
    if (this.isMine) this.#end()
    this.#wake()
  }

  /** Resolves when something has changed, at the latest after `ms`. */
  changed(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#deps.clock.after(ms, done)
    const waiting = this.#waiting
    function done(): void {
      timer.cancel()
      waiting.delete(done)
      resolve()
    }
    waiting.add(done)
    return promise
  }

  /** One who has just refused is not asked again before the next check. */
  async #look(refusing?: Holder): Promise<void> {
    const { membership, directory, log } = this.#deps
    const leaves = this.#isStopped || (membership.state === 'draining' && this.hasHeirs)
    const cannot = !this.#deps.isReachable() || !membership.holdsLease()
    if (this.#isLooking || leaves || cannot) return
    this.#isLooking = true
    const epoch = membership.epoch()
    try {
      const { holder: boot, generation } = await directory.takeRole(
        roleName,
        membership.bootId,
        membership.gone(),
      )
      if (this.#isStopped || this.isMine || generation < this.#generation) return
      if (boot !== membership.bootId) {
        const isRefusing = refusing?.boot === boot && refusing.generation === generation
        if (membership.isThere(boot) && !isRefusing) this.heard({ boot, generation })
      } else if (membership.epoch() === epoch) this.#begin({ boot, generation })
    } catch (error) {
      log.warn('the directory does not say who coordinates', { error })
    } finally {
      this.#isLooking = false
    }
  }

  #begin(holder: Holder): void {
    this.#holder = holder
    this.#generation = holder.generation
    this.#state = 'collecting'
    this.#collecting = this.#deps.clock.after(collectMs, () => this.collected())
    this.#deps.announce('coordinates', holder.generation)
    this.#deps.began()
  }

  #end(): void {
    this.#collecting?.cancel()
    const served = this.#state === 'serving'
    this.#state = 'elsewhere'
    this.#holder = undefined
    if (served) this.#deps.ended()
  }

  #wake(): void {
    for (const each of [...this.#waiting]) each()
  }
}

import { atEndOfTurn } from '../../kernel/clock.ts'
import type { NewCall } from '../calls.ts'
import type { Inbox } from '../inbox.ts'
import type { Overdue } from '../wire/overdue.ts'
import { createOpenLanes } from './open-lanes.ts'
import type { ServingScript } from './serving-script.ts'

type RouterDeps = {
  inbox: Inbox
  /** The generation of the script that a room is bound to; null for a room that is not bound. */
  generationOf(room_id: number): number | null
  /** Whether a room is bound to this generation. */
  hasRooms(generation: number): boolean
  /** Called when a script becomes the active one; what it is called with comes first. */
  activating(script: ServingScript): void
  /** Called once when the former script has nothing left to do. */
  done(former: ServingScript): void
}

/** What a call says of its room, and of the script that room is bound to. */
type Bound = { context: { room_id: number | null }; generation?: number | null }

/**
 * Picks the script of each call: the active one, or for a room that is bound the one that it is
 * bound to. At most one script beside the active one lives, the former one, which ends what it
 * has. A call that must not start before one of those waits here.
 */
export class Router {
  readonly inbox: Inbox
  readonly #deps: RouterDeps
  #active: ServingScript | undefined
  #former: ServingScript | undefined
  /** Calls for the active script that have to wait for calls of the former one. */
  #held: NewCall[] = []
  #heldLanes = createOpenLanes()
  #releaseWanted = false

  constructor(deps: RouterDeps) {
    this.#deps = deps
    this.inbox = deps.inbox
  }

  get active(): ServingScript | undefined {
    return this.#active
  }

  /** The script that served before the active one, while it has something to do. */
  get former(): ServingScript | undefined {
    return this.#former
  }

  /** From now on calls go to this script, but for those of rooms that are bound to the former. */
  activate(script: ServingScript, { bindsRooms }: { bindsRooms: boolean }): void {
    this.#deps.activating(script)
    const former = this.#active
    this.#active = script
    // Where nothing is active any more, the former one stays what it was.
    if (former !== undefined) this.#former = former
    for (const call of former?.retire({ keepsTimers: bindsRooms }) ?? []) this.call(call)
    this.#wantRelease()
  }

  /** The former script has lost something that it was kept for, such as a room. */
  lookAtFormer(): void {
    if (this.#former !== undefined) this.#wantRelease()
  }

  /** The worker of a script is gone, and all that it had. */
  end(script: ServingScript, overdue?: Overdue): void {
    if (this.#active === script) this.#active = undefined
    if (this.#former === script) this.#former = undefined
    script.end(overdue)
    this.#release()
  }

  /** Which script such a call goes to now. */
  pick({ context: { room_id }, generation }: Bound): ServingScript | undefined {
    const former = this.#former
    if (former === undefined) return this.#active
    const bound = generation ?? (room_id === null ? null : this.#deps.generationOf(room_id))
    return bound === former.identity.generation ? former : this.#active
  }

  call(call: NewCall): void {
    const script = this.pick(call)
    if (script === undefined) call.settle({ status: 'lost' })
    else if (script !== this.#former && this.#mustWait(call)) this.#hold(call)
    else script.call(call)
  }

  /** Called when a call of the former script has settled. */
  settled(script: ServingScript): void {
    if (script === this.#former) this.#wantRelease()
  }

  /** Called now and then. */
  lookForOldCalls(): void {
    this.#former?.lookForOldCalls()
    this.#active?.lookForOldCalls()
  }

  /** Whether nothing is on its way: every call has begun, and every answer has arrived. */
  get isQuiet(): boolean {
    const scripts = [this.#active, this.#former]
    return this.#held.length === 0 && scripts.every((script) => script?.isQuiet ?? true)
  }

  /** Also behind a call that waits here itself. */
  #mustWait(call: NewCall): boolean {
    if (this.#former === undefined) return false
    return this.#former.ahead(call) + this.#heldLanes.ahead(call) > 0
  }

  #hold(call: NewCall): void {
    this.inbox.add(call.body?.byteLength ?? 0)
    this.#held.push(call)
    this.#heldLanes.enter(call)
  }

  #wantRelease(): void {
    if (this.#releaseWanted) return
    this.#releaseWanted = true
    atEndOfTurn(() => {
      this.#releaseWanted = false
      this.#release()
    })
  }

  /** Lets calls go that wait for nothing any more, in their order. */
  #release(): void {
    const held = this.#held
    this.#held = []
    this.#heldLanes = createOpenLanes()
    for (const call of held) {
      this.inbox.remove(call.body?.byteLength ?? 0)
      this.call(call)
    }
    const former = this.#former
    if (former?.isIdle && !this.#deps.hasRooms(former.identity.generation)) this.#deps.done(former)
  }
}

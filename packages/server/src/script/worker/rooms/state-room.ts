import type { JsonObject } from '@guildhall/contract'
import { HostSet } from '../host-map.ts'
import { Output } from '../output.ts'
import type { RoomDefinition } from './definition.ts'
import { RoomFollowers, type RoomMember } from './room-followers.ts'
import type { StateBudget } from './state-budget.ts'
import { StateCopy } from './state-copy.ts'
import { StateTracker } from './state-tracker.ts'

/** The label of a room as its handlers read it. */
export type StateLabel = {
  readonly map: string
  readonly mode: string
  readonly max_players: number
  readonly open: boolean
  readonly tick: boolean
  readonly listed: boolean
  readonly properties: JsonObject
}

/** What the node says of a room whose state is made, or made again. */
export type StateRoomIdentity = {
  readonly definition: string
  readonly room_id: number
  readonly match_id: string
  readonly name: string | null
  readonly label: StateLabel
}

/** A room that a definition keeps the state of. */
export class StateRoom {
  readonly definition: RoomDefinition
  readonly room_id: number
  readonly match_id: string
  readonly name: string | null
  label: StateLabel
  members: readonly RoomMember[] = []
  readonly copy: StateCopy
  readonly followers: RoomFollowers
  #state: unknown
  /** The copy is ahead of what holds. */
  #isTaken = false
  readonly #tracker: StateTracker | undefined
  /** The state differs from what its followers have. */
  isUnsent = false
  /** A sync is queued, or waits for its time. */
  isSyncDue = false
  /** A sync was lost, and is tried again where nothing else leads to one: later each time. */
  isRetryDue = false
  retries = 0
  /** The sync that is queued is one of a follower whose part has taken too long. */
  triesLate = false
  lastSyncMs = Number.NEGATIVE_INFINITY
  ticksSinceSync = 0
  /** The node has an older state. */
  isUnsaved = false
  isSaveDue = false
  lastSaveMs = Number.NEGATIVE_INFINITY
  hasEnded = false
  /** Timers of `room.after` that wait. */
  readonly timers = new HostSet<number>()
  /** What is sent behind the next sync. */
  readonly behindSync = new Output()
  /** What its handlers know it by. */
  face: object = {}

  constructor(
    definition: RoomDefinition,
    identity: StateRoomIdentity,
    { seq, budget }: { seq: number; budget: StateBudget },
  ) {
    this.definition = definition
    this.copy = new StateCopy(budget)
    this.room_id = identity.room_id
    this.match_id = identity.match_id
    this.name = identity.name
    this.label = identity.label
    this.followers = new RoomFollowers(definition, identity.room_id, seq)
    this.#tracker = definition.isTracked ? new StateTracker() : undefined
  }

  get isTracked(): boolean {
    return this.#tracker !== undefined
  }

  /** As view and own see it. */
  get state(): unknown {
    return this.#tracker === undefined ? this.#state : this.#tracker.value
  }

  /** As handlers have it. */
  get handledState(): unknown {
    return this.#tracker === undefined ? this.#state : this.#tracker.state
  }

  set handledState(state: unknown) {
    if (this.#tracker === undefined) this.#state = state
    else this.#tracker.state = state
  }

  setState(state: unknown): void {
    this.#isTaken = false
    this.handledState = state
    this.definition.guest?.write(this.room_id, state)
  }

  /**
   * Takes over what a slice has made of the state; true if that is another one. Until it is
   * accepted, the slice may fail.
   *
   * @throws StateProblem when it is no state
   */
  takeState(): boolean {
    const { guest } = this.definition
    // Where the script's values are copies, the state comes out of its engine.
    if (guest !== undefined) this.#state = guest.read(this.room_id)
    const marks = this.#tracker === undefined ? 'all' : this.#tracker.takeMarks()
    if (marks === undefined) return false
    const hasChanged = this.#noted(this.copy.tryUpdate(this.state, marks))
    this.#isTaken = true
    return hasChanged
  }

  /** Twice where an interrupt came behind it, which may have ended another update of the copy. */
  acceptState(): void {
    if (!this.#isTaken) return
    this.copy.accept()
    this.#isTaken = false
  }

  /**
   * Takes over at once what was written past the notes of a tracked state.
   *
   * @throws StateProblem when it is no state
   */
  takeUntracked(): boolean {
    return this.#tracker !== undefined && this.#noted(this.copy.update(this.state))
  }

  #noted(hasChanged: boolean): boolean {
    if (!hasChanged) return false
    this.isUnsaved = true
    this.isUnsent = true
    this.retries = 0
    return true
  }

  enter(member: RoomMember): void {
    this.members = [...this.members.filter(isOther(member.participant)), member]
  }

  leave(participant: number): void {
    this.members = this.members.filter(isOther(participant))
    this.followers.remove(participant)
  }

  /** After so many ticks of its own there is a sync, if anything has changed. */
  get ticksPerSync(): number {
    const { tickHz, syncHz } = this.definition
    return Math.max(1, Math.ceil(tickHz / syncHz))
  }
}

function isOther(participant: number) {
  return (member: RoomMember) => member.participant !== participant
}

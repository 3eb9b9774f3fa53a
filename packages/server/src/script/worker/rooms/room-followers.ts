import {
  encodeStateChanges,
  encodeStateFull,
  type StateChange,
  StateEncoder,
  type StateList,
} from '@guildhall/contract/state'
import { Interrupted } from '../errors.ts'
import { HostMap } from '../host-map.ts'
import type { RoomDefinition } from './definition.ts'

/** A member as handlers of a room see it. */
export type RoomMember = {
  readonly participant: number
  readonly user_id: string | null
  readonly username: string | null
}

/** A body of kind 50, and who gets it. */
export type StateMessage = { readonly body: Uint8Array; readonly participants: readonly number[] }

type Follower = {
  readonly member: RoomMember
  readonly own: StateEncoder | undefined
  /** Has nothing yet, or has fallen behind: the next message is a whole one. */
  wantsWhole: boolean
  /** Its part was being made when a sync was interrupted: it is made apart from the others'. */
  isLate: boolean
}

/** Most bytes of the views of one room as JSON text, together. */
const viewBytesMax = 1_048_576
/** A byte of a message stands for so much text at most, but for numbers that travel as steps. */
const textPerByte = 8

/** Those who follow the state of one room, and what each of them has of it. */
export class RoomFollowers {
  readonly #definition: RoomDefinition
  readonly #roomId: number
  readonly #followers = new HostMap<number, Follower>()
  #view: StateEncoder
  /** An upper bound of the views as JSON text, together. */
  #viewBytes = 0
  #seq = 0
  /** Whose part is being made. An interrupt leaves it behind. */
  #current: Follower | undefined
  /** Whose wholes this call has made. */
  readonly #served: Follower[] = []
  /** This call compares what all have. */
  #isSync = false

  /** `seq` is the number of the last sync before this worker. */
  constructor(definition: RoomDefinition, roomId: number, seq: number) {
    this.#definition = definition
    this.#roomId = roomId
    this.#seq = seq
    this.#view = new StateEncoder(definition.decimals)
  }

  get isEmpty(): boolean {
    return this.#followers.size === 0
  }

  get seq(): number {
    return this.#seq
  }

  has(participant: number): boolean {
    return this.#followers.has(participant)
  }

  /** The next message to this member is a whole one. */
  add(member: RoomMember): void {
    const { own, decimals } = this.#definition
    this.#followers.set(member.participant, {
      member,
      own: own === undefined ? undefined : new StateEncoder(decimals),
      wantsWhole: true,
      isLate: false,
    })
  }

  remove(participant: number): void {
    this.#followers.delete(participant)
    // Without a follower nothing is compared, and the first one gets a whole that is of then.
    if (this.#followers.size === 0) this.#view = new StateEncoder(this.#definition.decimals)
  }

  /** What a call has made is lost: after a sync nobody knows what they have. */
  interrupted(): void {
    if (this.#isSync) this.#forget()
    for (const follower of this.#served) follower.wantsWhole = true
    const late = this.#current
    this.#begin(false)
    if (late === undefined || this.#followers.get(late.member.participant) !== late) return
    late.wantsWhole = true
    late.isLate = true
    // Others that are late come before it.
    this.#followers.delete(late.member.participant)
    this.#followers.set(late.member.participant, late)
  }

  get hasLate(): boolean {
    for (const { isLate } of this.#followers.values()) if (isLate) return true
    return false
  }

  #forget(): void {
    this.#view = new StateEncoder(this.#definition.decimals)
    for (const follower of this.#followers.values()) follower.wantsWhole = true
  }

  #begin(isSync: boolean): void {
    this.#isSync = isSync
    this.#current = undefined
    this.#served.length = 0
  }

  /** Whether there is something that a newcomer can be sent. */
  get isWhole(): boolean {
    return this.#view.isWhole
  }

  /**
   * The wholes that can be made of what the others have.
   *
   * @throws SyncProblem where an own part could not be made
   */
  welcome(state: unknown): StateMessage[] {
    this.#begin(false)
    if (!this.#view.isWhole) return []
    return this.#each((follower, messages) => {
      if (follower.wantsWhole && !follower.isLate) messages.push(this.#whole(follower, state))
    })
  }

  /** The same for one of those whose part has taken too long. */
  welcomeLate(state: unknown): StateMessage[] {
    this.#begin(false)
    if (!this.#view.isWhole) return []
    return this.#each((follower, messages) => {
      if (!follower.isLate || messages.length > 0) return
      messages.push(this.#whole(follower, state))
    })
  }

  /**
   * Compares what everybody is to see with what they have: without a view the parts of the copy.
   *
   * @throws what `view` or `own` throws, and TypeError for what is no JSON; those whose part was
   * not made keep what they have, and get a whole the next time
   */
  sync(state: unknown, copy: unknown): StateMessage[] {
    if (this.#followers.size === 0) return []
    this.#begin(true)
    this.#seq += 1
    const hasView = this.#definition.view !== undefined
    const shared = compared('view', this.#view, hasView ? this.#viewOf(state) : copy)
    const list = typeof shared === 'string' ? undefined : shared
    const alike: number[] = []
    const changed = (messages: StateMessage[]) => {
      if (alike.length > 0 && list !== undefined) {
        messages.push({ body: encodeStateChanges(this.#seq, list), participants: alike })
      }
      this.#checkBytes(messages)
    }
    return this.#each((follower, messages) => {
      if (shared === 'whole') follower.wantsWhole = true
      if (follower.isLate) return
      if (follower.wantsWhole) messages.push(this.#whole(follower, state))
      else this.#changes(follower, { state, list, messages, alike })
    }, changed)
  }

  /** What one part throws is thrown when those of the others are made, unless time has run out. */
  #each(
    serve: (follower: Follower, messages: StateMessage[]) => void,
    finish?: (messages: StateMessage[]) => void,
  ): StateMessage[] {
    const messages: StateMessage[] = []
    let problem: { error: unknown } | undefined
    for (const follower of this.#followers.values()) {
      try {
        serve(follower, messages)
      } catch (error) {
        if (error instanceof Interrupted) throw error
        follower.wantsWhole = true
        follower.isLate = false
        problem ??= { error }
      }
    }
    this.#current = undefined
    finish?.(messages)
    if (problem !== undefined) throw new SyncProblem(problem.error, messages)
    return messages
  }

  #changes(
    follower: Follower,
    made: {
      state: unknown
      list: StateList | undefined
      messages: StateMessage[]
      alike: number[]
    },
  ): void {
    const { state, list, messages, alike } = made
    const { own } = follower
    const { participant } = follower.member
    const change = this.#compareOwn(follower, state)
    if (change === 'none') {
      if (list !== undefined) alike.push(participant)
    } else if (change === 'whole' || list?.anew === true || change.anew) {
      // Both numberings would have to begin anew at once: a whole says the same.
      messages.push(this.#wholeOf(participant, own))
    } else {
      const body = encodeStateChanges(this.#seq, list, change)
      messages.push({ body, participants: [participant] })
    }
  }

  #whole(follower: Follower, state: unknown): StateMessage {
    this.#compareOwn(follower, state)
    follower.wantsWhole = false
    follower.isLate = false
    this.#served.push(follower)
    return this.#wholeOf(follower.member.participant, follower.own)
  }

  #compareOwn(follower: Follower, state: unknown): StateChange {
    const { own, member } = follower
    if (own === undefined) return 'none'
    this.#current = follower
    const change = compared('own', own, this.#ownOf(state, member))
    this.#current = undefined
    return change
  }

  #wholeOf(participant: number, own: StateEncoder | undefined): StateMessage {
    const about = { seq: this.#seq, room_id: this.#roomId }
    return { body: encodeStateFull(about, this.#view, own), participants: [participant] }
  }

  #viewOf(state: unknown): unknown {
    const { view, guest } = this.#definition
    return guest === undefined ? view?.(state) : guest.view(this.#roomId)
  }

  #ownOf(state: unknown, member: RoomMember): unknown {
    const { own, guest } = this.#definition
    return guest === undefined ? own?.(state, member) : guest.own(this.#roomId, member)
  }

  /** The texts are made only when what was sent may have made them too long. */
  #checkBytes(messages: readonly StateMessage[]): void {
    for (const { body } of messages) this.#viewBytes += body.length * textPerByte
    if (this.#viewBytes <= viewBytesMax) return
    this.#viewBytes = Buffer.byteLength(this.#view.text())
    for (const { own } of this.#followers.values()) {
      if (own !== undefined) this.#viewBytes += Buffer.byteLength(own.text())
    }
    if (this.#viewBytes <= viewBytesMax) return
    // They keep what they had, and get a whole once it is smaller.
    this.#forget()
    throw new TypeError(`the views of the room have ${this.#viewBytes} bytes, at most 1 MiB`)
  }
}

/** Of what is no JSON it says who has answered it. */
function compared(part: 'view' | 'own', encoder: StateEncoder, value: unknown): StateChange {
  try {
    return encoder.compare(value)
  } catch (error) {
    // A getter of the script may throw the same one again and again.
    const isSaid = error instanceof TypeError && String(error.message).startsWith(`${part}: `)
    if (error instanceof TypeError && !isSaid) error.message = `${part}: ${error.message}`
    throw error
  }
}

/** One of the parts could not be made; `messages` are those of the others. */
export class SyncProblem extends Error {
  override readonly name = 'SyncProblem'
  readonly error: unknown
  readonly messages: readonly StateMessage[]

  constructor(error: unknown, messages: readonly StateMessage[]) {
    super('a part of a room could not be made')
    this.error = error
    this.messages = messages
  }
}

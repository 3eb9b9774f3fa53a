import {
  kinds,
  type RoomJoined,
  type RoomPresence,
  roomReferenceBody,
} from '@guildhall/contract/wire'
import { GuildhallError } from '../error.ts'
import { Listeners, type Off } from '../listeners.ts'
import type { SendOptions } from '../realtime/call-options.ts'
import type { Ear } from '../realtime/receiving/inbox.ts'
import type { Message } from '../realtime/sending/payload.ts'
import { type MemberChange, Members } from './members.ts'
import { RoomState } from './room-state.ts'
import type { Member, Room, RoomEnd } from './room-types.ts'

/** What a room uses of its connection. */
export type RoomDeps = {
  self: Member
  send(kind: number, payload: unknown, options?: SendOptions): void
  leave(): Promise<void>
  write(kind: number, body: Uint8Array): void
  /** A listener for messages was added. */
  listened(): void
  /** The game asks for the states of rooms. */
  askForStates(): void
  failed(error: unknown): void
}

/** A room that the player is in, and later was in. */
export class LiveRoom implements Room, Ear {
  readonly #deps: RoomDeps
  readonly #listeners: Listeners<string | number>
  readonly #members: Members
  readonly #state = new RoomState()
  #label: RoomJoined
  #hasEnded = false

  constructor(joined: RoomJoined, deps: RoomDeps) {
    this.#deps = deps
    this.#label = joined
    this.#listeners = new Listeners(deps.failed)
    this.#members = new Members(deps.self)
  }

  get id(): number {
    return this.#label.room_id
  }

  get map(): string {
    return this.#label.map
  }

  get mode(): string {
    return this.#label.mode
  }

  get members(): ReadonlyMap<number, Member> {
    return this.#members.all
  }

  get state(): unknown {
    this.#deps.askForStates()
    return this.#state.view
  }

  get own(): unknown {
    this.#deps.askForStates()
    return this.#state.own
  }

  send(kind: number, payload: unknown, options?: SendOptions): void {
    this.#checkInside()
    this.#deps.send(kind, payload, options)
  }

  leave(): Promise<void> {
    return this.#hasEnded ? Promise.resolve() : this.#deps.leave()
  }

  ready(): void {
    this.#checkInside()
    this.#deps.write(kinds.ROOM_MAP_READY.first, roomReferenceBody.encode({ room_id: this.id }))
  }

  // The types of the events are those of `Room`; here they only pass through.
  on(what: string | number, call: (value: never, more: never) => unknown): Off {
    if (this.#hasEnded) return () => {}
    const off = this.#listeners.on(what, call)
    if (typeof what === 'number') this.#deps.listened()
    if (what !== 'state') return off
    this.#deps.askForStates()
    const ignore = this.#state.listen(call)
    return () => {
      off()
      ignore()
    }
  }

  hears(kind: number): boolean {
    return this.#listeners.has(kind)
  }

  hear(message: Message): void {
    this.#listeners.emit(message.kind, message)
  }

  /** The server says again what the room is called. */
  relabel(joined: RoomJoined): void {
    this.#label = joined
  }

  take(presence: RoomPresence): void {
    for (const change of this.#members.apply(presence)) this.#say(change)
  }

  /** Takes a body of kind 50. */
  takeState(body: Uint8Array): void {
    const changes = this.#state.take(body, this.id)
    if (changes !== undefined) this.#listeners.emit('state', this.#state.view, changes)
  }

  lost(): void {
    this.#members.dropParts()
  }

  end(end: RoomEnd): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#listeners.emit('closed', end)
    this.#listeners.clear()
  }

  #say(change: MemberChange): void {
    if (change.event !== 'leave') this.#listeners.emit(change.event, change.member)
    else this.#listeners.emit('leave', change.member, change.departure)
  }

  #checkInside(): void {
    if (this.#hasEnded) throw new GuildhallError('not_in_room', 'the player is not in this room')
  }
}

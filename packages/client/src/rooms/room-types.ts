import type {
  BodyOfKind,
  Departure,
  DownKind,
  GameTypes,
  OwnOf,
  StateOf,
  StatePathChange,
  UpKind,
} from '@guildhall/contract/wire'
import type { Off } from '../listeners.ts'
import type { SendOptions } from '../realtime/call-options.ts'
import type { Message } from '../realtime/sending/payload.ts'

/** A player in a room. */
export type Member = {
  readonly participant: number
  /** Null for a guest. */
  readonly user_id: string | null
  readonly username: string | null
  /** False while its connection is lost and its seat is kept. */
  readonly connected: boolean
}

/** Why a room has ended for the player. */
export type RoomEnd = {
  reason: 'left' | 'moved' | 'removed' | 'server' | 'connection_lost'
  /** The server asks the player to look for another match. */
  requeue: boolean
}

/** Events of a room and what their listeners get. */
export type RoomEvents = {
  join: [member: Member]
  leave: [member: Member, departure: Departure]
  /** The member's connection is lost; its seat is kept. */
  drop: [member: Member]
  return: [member: Member]
  /** Once; afterwards the room raises nothing more. */
  closed: [end: RoomEnd]
}

/** A room that the player is in, until `closed`. */
export type Room<G extends GameTypes = GameTypes> = {
  readonly id: number
  readonly map: string
  readonly mode: string
  /** By participant; the player is among them. */
  readonly members: ReadonlyMap<number, Member>
  /**
   * What members see of a room with state, as it was last sent; undefined until the first one has
   * come, and in rooms without. Frozen: parts that did not change stay the same objects. States are
   * sent once a game has asked for one, here or by `on('state')`.
   */
  readonly state: StateOf<G> | undefined
  /** What this player alone sees of it; undefined where the room has no such part. */
  readonly own: OwnOf<G> | undefined
  /** As `connection.send`; `not_in_room` once the room has ended for the player. */
  send<K extends UpKind<G>>(kind: K, payload: BodyOfKind<G, K, 'up'>, options?: SendOptions): void
  /** Resolves when the room has ended for the player. */
  leave(): Promise<void>
  /** Says that the map is loaded (kind 25). */
  ready(): void
  /** Adds a listener of an event, or of a kind of the game; the answer removes it. */
  on<E extends keyof RoomEvents>(event: E, call: (...values: RoomEvents[E]) => unknown): Off
  /**
   * Another state has come; `changes` are those of the shared part, for listeners that take them:
   * of a whole state the one with an empty path. `value` is undefined for what is gone.
   */
  on(event: 'state', call: (state: StateOf<G>, changes: readonly StatePathChange[]) => unknown): Off
  on<K extends DownKind<G>>(
    kind: K,
    call: (message: Message<BodyOfKind<G, K, 'down'>>) => unknown,
  ): Off
}

import type { Envelope, RpcRequest } from '@guildhall/contract'
import type { RpcOutcome } from '../kernel/play/calls.ts'
import type { ScriptBinding } from '../kernel/play/rooms.ts'
import type { Awaitable } from '../kernel/time/awaitable.ts'
import type { OutgoingFrame } from './frames/outgoing-frame.ts'
import type { Player } from './ports.ts'

/**
 * The door between the two rooms of realtime: the edge, which has connections (`connection/`),
 * and the owner of participants and rooms (`play/`). Through it go ids, values and promises, in
 * order; so an owner on another node is another implementation of `PlayPort`.
 */

/** What the edge asks of the owner. An id that the owner does not know is no error. */
export type PlayPort = {
  /**
   * The dropped participant that a new connection of the account continues; it arrives next.
   * `asked`: what the connection before it has asked for, and does not wait for any more.
   */
  claim(account: Player, asked?: Promise<Claimed | undefined>): Awaitable<Claimed | undefined>
  /**
   * A connection plays as a participant from here on: a new one, or the one that it has claimed.
   * The script is called, which is over when the answer is there.
   */
  arrive(arrival: Arrival, receiver: Receiver): Awaitable<void>
  /** The connection is gone. `unsent` are the reliable frames that its peer did not get. */
  leave(participant: number, seat: SeatFate, unsent: readonly OutgoingFrame[]): void
  /** What the client asks for by SESSION_OPTIONS has changed. */
  setFlags(participant: number, flags: number): void
  /** A room request: ROOM_CREATE, ROOM_JOIN, ROOM_ENTER or ROOM_LEAVE. Its answer is delivered. */
  request(participant: number, envelope: Envelope): void
  /** A position for the others of the room. */
  position(participant: number, position: Uint8Array): void
  /** A message for the script; `Receiver.settled` follows. */
  message(participant: number, message: PlayerMessage): void
  /** A call of the script or of a method of the service; `Receiver.replied` follows. */
  rpc(participant: number, request: RpcRequest): void
  /** The script that plays with the owner's participants. */
  readonly script: ScriptState
}

/** What the edge knows of a script; an owner on another node reports changes of it. */
export type ScriptState = {
  /** Whether a worker serves calls right now. */
  serving(): boolean
  /** Whether the script of somebody in this room, or in none, has a handler for the kind. */
  handlesKind(kind: number, room_id: number | null): boolean
  /** True while the inbox is full; the edge then stops reading from connections. */
  congested(): boolean
  /** Calls `listener` once the inbox has drained to half. */
  onceDrained(listener: () => void): void
}

/** What the owner reports to the edge about one participant, in the order in which it happens. */
export type Receiver = {
  /** Queues a frame that others may get too. */
  deliver(frame: OutgoingFrame, unreliable: boolean): void
  /** Sends, unreliably and at once, the positions of all senders but `own`, one of each. */
  deliverPositions(positions: readonly OutgoingFrame[], own: number): void
  /**
   * Bytes that wait in its reliable lane now; absent where the owner cannot know. Who has many is
   * sent fewer states.
   */
  backlogBytes?(): number
  /** The participant is somewhere else now. */
  placed(place: Place): void
  /** The script is done with a message of this kind. */
  settled(kind: number, outcome: MessageOutcome): void
  /** Nothing took an envelope of this kind. */
  unhandled(kind: number, reason: UnhandledReason): void
  /** The answer to an RPC. */
  replied(requestId: bigint, outcome: RpcOutcome): void
}

export type Arrival = {
  /** A new id of the edge, or the one that was claimed. */
  participant: number
  /** Undefined for guests. */
  account: Player | undefined
  /** What the client has asked for by SESSION_OPTIONS so far. */
  flags: number
  /** The connection is one of another node. */
  relayed?: boolean
}

export type Claimed = { participant: number; place: Place }

/** Where a participant is; all null outside rooms. */
export type Place = {
  room_id: number | null
  match_id: string | null
  /** The script that the room keeps to. */
  binding: ScriptBinding | null
  /** The room is on another node, whose script has its messages. */
  elsewhere?: true | undefined
}

export const nowhere: Place = { room_id: null, match_id: null, binding: null }

/** `unreliable`: it came as a datagram. `body` must not be changed afterwards. */
export type PlayerMessage = { kind: number; body: Uint8Array; unreliable: boolean }

export type MessageOutcome = 'ok' | 'failed' | 'unavailable'

/** Nothing is there for the kind, or what is there cannot be reached. */
export type UnhandledReason = 'no_handler' | 'script_unavailable'

/**
 * What becomes of the place in its room of a participant whose connection is gone, where there is a
 * reconnect grace: it is kept, kept if the room is on another node, handed over to the connection
 * that replaces this one, or there is none.
 */
export type SeatFate = 'kept' | 'kept_elsewhere' | 'handed_over' | 'none'

import type { Awaitable } from '../../kernel/time/awaitable.ts'
import type { Claimed } from '../play.port.ts'
import type { Player } from '../ports.ts'
import type { Participant } from './participants/participant.ts'
import type { EnterRequest } from './rooms/requests/room-request.ts'

/**
 * The other nodes, as the owner of a node reaches them: rooms that live there, and names that are
 * unique over all. A node without a cluster is `alone`.
 */
export type Elsewhere = {
  /** Whether a room of this id lives on another node, or did. */
  isElsewhere(roomId: number): boolean
  /** Asks the node of a room, or a certain one, to let a participant in. */
  enter(participant: Participant, request: EnterRequest, at?: RoomPlace): Promise<Entered>
  /** Whether names are unique over several nodes. */
  readonly sharesNames: boolean
  /** Whether requests by name are served at the moment. */
  servesNames(): boolean
  /** Reserves a name for a room that is about to be made here. */
  reserveName(name: string, roomId: number): Awaitable<NameAnswer>
  /** The room of the name has ended, or was not made. */
  releaseName(name: string, roomId: number): void
  /** The node that new rooms are made on, where it is not this one. */
  placeOfNewRoom(): string | undefined
  /**
   * The seat that a new connection of the account continues where its session has none `here`: one
   * of the session elsewhere, or else of the account, here first.
   */
  claim(account: Player, here: SeatHere): Awaitable<Claimed | undefined>
  /** A session has a new connection; done once its place among others of it is settled. */
  connecting(sessionId: string): Promise<void> | undefined
  /** The connection that has claimed a seat arrives; undefined where it has claimed none. */
  arrive(participant: Participant): Promise<void> | undefined
  /** The connection that has claimed a seat was lost before it arrived. */
  release(participant: number): void
  /** How long a request may take, in milliseconds. */
  readonly commandTimeoutMs: number
}

/** Takes the last seat of the account on this node. */
export type SeatHere = () => Awaitable<Claimed> | undefined

/** The node that has a name, or that may make its room. */
export type RoomPlace = { boot: string; mayCreate: boolean }

/** What comes of a request to enter: a reason against it, or that it is to begin again. */
export type Entered = { is: 'done' } | { is: 'refused'; reason: string } | { is: 'again' }

export type NameAnswer = { is: 'reserved' } | { is: 'held'; boot: string } | { is: 'unavailable' }

/** A node that plays with itself. */
export const alone: Elsewhere = {
  isElsewhere: () => false,
  enter: async () => ({ is: 'refused', reason: 'room not found' }),
  sharesNames: false,
  servesNames: () => true,
  reserveName: () => ({ is: 'reserved' }),
  releaseName() {},
  placeOfNewRoom: () => undefined,
  claim: (_, here) => here(),
  connecting: () => undefined,
  arrive: () => undefined,
  release() {},
  commandTimeoutMs: 2000,
}

/** The refusal while another node, or this one, cannot decide. */
export const unavailable = 'room temporarily unavailable'

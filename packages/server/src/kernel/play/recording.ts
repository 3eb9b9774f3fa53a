import type { DiagStatus } from '@guildhall/contract'

/** Players whose clients can record when envelopes come, as lag captures reach them. */
export type RecordingPlayers = {
  /** Undefined for who is not connected to this node. */
  find(participant: number): RecordingPlayer | undefined
  /** The connected participants of an account, the longest connected first. */
  ofAccount(userId: string): readonly number[]
  /** The connected members of a room, and its match; undefined when there is no such room. */
  ofRoom(roomId: number): { match_id: string; participants: readonly number[] } | undefined
  /**
   * Sends a new offer of server time, and the envelope directly behind it. False when the
   * participant is not connected, or cannot record any more.
   */
  offer(participant: number, kind: number, body: Uint8Array): boolean
  /** Sends an envelope; false when the participant is not connected. */
  send(participant: number, kind: number, body: Uint8Array): boolean
  /** Reports every envelope of the participant from here on; undefined ends it. */
  observe(participant: number, observer: EnvelopeObserver | undefined): void
  /** Who hears what becomes of recordings; one alone, set once. */
  listen(listener: RecordingListener): void
}

export type RecordingPlayer = {
  readonly participant: number
  /** Null for guests. */
  readonly user_id: string | null
  readonly session_id: string | null
  /** Null outside rooms. */
  readonly room_id: number | null
  /** Whether the client has said, for its present offer, that it can record. */
  readonly canRecord: boolean
}

/** Hears of each envelope of one participant. It is called for every one, so it must be quick. */
export type EnvelopeObserver = {
  /** The node has queued one for the client. */
  queued(kind: number, datagram: boolean, bodyBytes: number): void
  /** One has come from the client. */
  received(kind: number, datagram: boolean, bodyBytes: number): void
}

export type RecordingListener = {
  /** What a client says about a capture; false when it takes part in no such capture. */
  said(participant: number, status: DiagStatus): boolean
  /** The client cannot record any more. */
  withdrew(participant: number): void
  /** The connection has ended, also when its seat is kept. */
  left(participant: number): void
}

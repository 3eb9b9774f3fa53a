import { sessionFlags } from '@guildhall/contract'
import type { CallContext } from '../../../kernel/play/calls.ts'
import type { OutgoingFrame } from '../../frames/outgoing-frame.ts'
import type { Receiver } from '../../play.port.ts'

/** A participant as rooms and their presence see it. */
export type Member = {
  /** What scripts receive; replaced as a whole when the room changes, never changed. */
  context: CallContext
  /** Where envelopes for it go: its connection, or its seat while it is dropped. */
  receiver: Receiver
  /** False while it is dropped, and once it has ended. */
  isConnected: boolean
  /** Its connection is one of another node, which has its hooks, parties and tickets. */
  relayed: boolean
  /** What its client asked for by SESSION_OPTIONS. */
  flags: number
  /** The snapshot of presence that it is being sent. */
  snapshot: RunningSnapshot | undefined
}

/** A snapshot under way; `held` are the notices of what has happened since it began. */
export type RunningSnapshot = {
  readonly roomId: number
  readonly receiver: Receiver
  readonly version: PresenceVersion
  /** The members when it began. */
  readonly members: readonly Member[]
  /** The parts that are encoded, by this snapshot or another one of the same members. */
  readonly frames: OutgoingFrame[]
  /** How many frames were delivered. */
  sent: number
  readonly held: OutgoingFrame[]
}

/**
 * What a member that follows has of the state of its room:
 *
 *   waiting   nothing: it has been promised a whole one, and changes are not for it
 *   synced    what the script has sent
 *   behind    an older state: it reads too slowly, and is left out until it has caught up
 */
export type Following = {
  stage: 'waiting' | 'synced' | 'behind'
  /** Bytes of the last whole one, which may wait in the lane without the member being slow. */
  wholeBytes: number
}

export type PresenceVersion = 1 | 2

/** Which version of presence the client asked for; undefined when it asked for none. */
export function presenceVersion(flags: number): PresenceVersion | undefined {
  if ((flags & sessionFlags.presence) === 0) return undefined
  return (flags & sessionFlags.presence_names) === 0 ? 1 : 2
}

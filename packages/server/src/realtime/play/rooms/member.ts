import { sessionFlags } from '@guildhall/contract'
import type { CallContext } from '../../../kernel/play/calls.ts'
import type { Receiver } from '../../play.port.ts'

/** A participant as rooms and their presence see it. */
export type Member = {
  /** What scripts receive; replaced as a whole when the room changes, never changed. */
  context: CallContext
  /** Where envelopes for it go: its connection, or its seat while it is dropped. */
  receiver: Receiver
  /** False while it is dropped, and once it has ended. */
  isConnected: boolean
  /** What its client asked for by SESSION_OPTIONS. */
  flags: number
}

export type PresenceVersion = 1 | 2

/** Which version of presence the client asked for; undefined when it asked for none. */
export function presenceVersion(flags: number): PresenceVersion | undefined {
  if ((flags & sessionFlags.presence) === 0) return undefined
  return (flags & sessionFlags.presence_names) === 0 ? 1 : 2
}

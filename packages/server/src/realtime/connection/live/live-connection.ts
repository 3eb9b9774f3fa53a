import type { EnvelopeObserver } from '../../../kernel/play/recording.ts'
import type { OutgoingFrame } from '../../frames/outgoing-frame.ts'
import type { Place } from '../../play.port.ts'
import type { Closing } from '../closing/closings.ts'
import type { ClientState } from './client-state.ts'

/** A connection that plays, as what serves its envelopes sees it. */
export type LiveConnection = {
  readonly participant: number
  /** Null for guests. */
  readonly userId: string | null
  readonly place: Place
  readonly client: ClientState
  /** Queues an envelope of its own. */
  send(kind: number, body: Uint8Array): void
  sendFrame(frame: OutgoingFrame): void
  end(closing: Closing): void
  /** What SESSION_OPTIONS asks for now. */
  setFlags(flags: number): void
  /** Hears of each of its envelopes, while a capture records it. */
  observer: EnvelopeObserver | undefined
}

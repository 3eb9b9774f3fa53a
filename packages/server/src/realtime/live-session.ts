import type { Closing } from './closings.ts'
import type { OutgoingFrame } from './outgoing-frame.ts'
import type { Participant } from './participant.ts'

/** A registered session, as the rest of the gateway sees it; its participant outlives it. */
export type LiveSession = {
  readonly participant: Participant
  /** Queues an envelope of its own. */
  send(kind: number, body: Uint8Array): void
  /** Queues a frame that others may get too. */
  deliver(frame: OutgoingFrame, unreliable: boolean): void
  end(closing: Closing): void
}

import type { OutgoingFrame } from '../../frames/outgoing-frame.ts'
import type { Participant, Receiver } from '../../play/participants/participant.ts'
import type { Closing } from '../closing/closings.ts'
import type { ClientState } from './client-state.ts'

/** A registered connection, as the rest of the gateway sees it. */
export type LiveSession = Receiver & {
  readonly participant: Participant
  readonly client: ClientState
  /** Queues an envelope of its own. */
  send(kind: number, body: Uint8Array): void
  end(closing: Closing): void
  /** The script has settled a message, which makes room for another one. */
  messageSettled(): void
  /** Takes out the reliable frames that the transport has not taken. */
  takeUnsent(): OutgoingFrame[]
}

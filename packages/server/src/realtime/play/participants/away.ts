import type { RpcRequest } from '@guildhall/contract'
import type { OutgoingFrame } from '../../frames/outgoing-frame.ts'
import type { PlayerMessage, SeatFate } from '../../play.port.ts'

/** A participant of this node in a room of another one. */
export type Away = {
  readonly boot: string
  /** It has lost the way to the room, and waits for it to come back. */
  readonly isWaiting: boolean
  setFlags(flags: number): void
  position(position: Uint8Array): void
  message(message: PlayerMessage): void
  rpc(request: RpcRequest): void
  /** Resolves when it is out of the room, or the way there is lost. */
  leaveRoom(): Promise<void> | undefined
  /** It is in another room from here on; what comes of this one later is dropped. */
  left(): void
  /** Its connection is over. */
  depart(seat: SeatFate, unsent: readonly OutgoingFrame[]): void
}

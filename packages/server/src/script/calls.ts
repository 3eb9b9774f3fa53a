import type { ScriptOrigin } from '@guildhall/contract'
import type { HumanPrincipal } from '../kernel/auth/principal.ts'
import type { CallContext } from '../kernel/play/calls.ts'
import type { TickRoom } from '../kernel/play/room-commands.ts'
import type { FailureCause } from './log/handler-failure.ts'

/** A call of a handler, as the host makes it. */
export type NewCall = {
  readonly hook: number
  readonly context: CallContext
  readonly origin: ScriptOrigin
  /** Who calls from the console. */
  readonly operator?: HumanPrincipal | undefined
  readonly detail?: number
  readonly unreliable?: boolean
  readonly body?: Uint8Array
  readonly text?: string
  /** Of a tick: the rooms that it runs in after the run without a room. */
  readonly rooms?: readonly TickRoom[]
  /** The script that its room is bound to, where the room itself may be gone already. */
  readonly generation?: number | null
  readonly settle: (outcome: Outcome) => void
}

/** How a call ended. `lost` means that its worker is gone, or was never there. */
export type Outcome =
  | { readonly status: 'ok'; readonly reply: Uint8Array; readonly cpuUs?: number }
  | {
      readonly status: 'error' | 'timed_out' | 'too_large'
      readonly cause?: FailureCause | undefined
      /** Its worker ended with a slice of one of several calls, and nobody knows which. */
      readonly isSuspect?: boolean
    }
  | { readonly status: 'lost' }
  | FailedWithText

/** How an on_start ended; what it returns is not looked at. */
export type StartOutcome = Exclude<Outcome, { status: 'ok' }> | { readonly status: 'ok' }

/** What `guildhall.fail` said. */
type FailedWithText = {
  readonly status: 'failed_with_text'
  readonly text: string
  /** Its code and data, as the worker wrote them. */
  readonly more: Uint8Array
}

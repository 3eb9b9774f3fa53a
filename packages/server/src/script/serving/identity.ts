import type { Handlers } from '../wire/hooks.ts'
import type { StartReason, ToWorker } from '../wire/protocol.ts'

/** The part of a worker that calls need. */
export type CallSink = {
  post(message: ToWorker): void
  ping(): void
  /** Whether a debugger may hold its calls as long as it likes. */
  readonly isAttached: boolean
}

/** What on_start is called with; `state` is JSON text of what on_unload handed over. */
export type StartArgument = { readonly reason: StartReason; readonly state?: string | undefined }

/** What a script that has loaded is. */
export type Identity = {
  readonly revision_id: string
  readonly generation: number
  readonly handlers: Handlers
}

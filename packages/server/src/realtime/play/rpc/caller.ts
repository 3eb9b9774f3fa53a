import type { CallContext } from '../../../kernel/play/calls.ts'
import type { RateBucket } from './rate-bucket.ts'

/** A participant as the methods of the service see it. */
export type Caller = {
  readonly context: CallContext
  /** Calls of `rooms.list` that its connection has left. */
  listCalls: RateBucket | undefined
  /** Messages to the party that its connection has left. */
  partyMessages: RateBucket | undefined
}

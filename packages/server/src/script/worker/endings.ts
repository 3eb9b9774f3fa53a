import { callStatuses } from '../wire/output-records.ts'

export const status = {
  ok: callStatuses.indexOf('ok'),
  error: callStatuses.indexOf('error'),
  failed_with_text: callStatuses.indexOf('failed_with_text'),
  timed_out: callStatuses.indexOf('timed_out'),
  too_large: callStatuses.indexOf('too_large'),
}

export const noReply = { status: status.ok, length: 0 }
export const timedOut = { status: status.timed_out, length: 0 }

/** How an invocation ended: its status, how long its reply is, and what the node reads of it. */
export type Ending = { status: number; length: number; text?: string }

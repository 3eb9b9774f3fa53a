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

export function tooLarge(bytes: number, bytesMax: number): Ending {
  const text = `it returned ${bytes} bytes, of ${bytesMax} at the most`
  return { status: status.too_large, length: 0, text }
}

/** How an invocation ended: its status, how long its reply is, and what the node reads of it. */
export type Ending = {
  status: number
  length: number
  text?: string
  /** The call to the node whose answer is the reply. */
  handed?: number
}

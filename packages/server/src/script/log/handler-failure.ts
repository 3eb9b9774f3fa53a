import type { HandlerFailure } from '@guildhall/contract'
import type { CallRecord } from '../wire/call-records.ts'
import { hookCode, hookNameOf } from '../wire/hooks.ts'
import type { FailedRun } from '../wire/output-records.ts'

/** A handler as operators know it. */
export type HandlerName = Pick<HandlerFailure, 'hook' | 'name'>

/** Why a handler failed, and at which line of its script if that is known. */
export type FailureCause = Pick<HandlerFailure, 'reason' | 'place'> & {
  readonly kind: 'error' | 'interrupted' | 'too_long' | 'too_large'
}

export function handlerOf({ hook, text, detail }: CallRecord): HandlerName {
  return { hook: hookNameOf(hook), name: detailName({ hook, text, detail }) }
}

/** The cause of a run that failed, unless its script chose to; undefined for every other end. */
export function causeOf(
  { hook }: Pick<CallRecord, 'hook'>,
  { status, text = '', cpuUs }: FailedRun,
  deadlineMs: number,
): FailureCause | undefined {
  if (status === 'timed_out') {
    const isInterrupted = cpuUs >= deadlineMs * 1000 || hook === hookCode.on_tick
    return isInterrupted ? interrupted : tooLong
  }
  if (status === 'too_large') return { kind: 'too_large', reason: text, place: null }
  return status === 'error' ? causeOfText(text) : undefined
}

/** The place is the first line, empty where the worker knows none. */
export function causeOfText(text: string): FailureCause {
  const end = text.indexOf('\n')
  const place = text.slice(0, Math.max(0, end))
  return { kind: 'error', reason: text.slice(end + 1), place: place === '' ? null : place }
}

const interrupted: FailureCause = {
  kind: 'interrupted',
  reason: 'interrupted at its deadline',
  place: null,
}
/** Of a call that waited too long, and of one whose slice nothing could interrupt. */
export const tooLong: FailureCause = {
  kind: 'too_long',
  reason: 'took longer than it may',
  place: null,
}

function detailName({ hook, text, detail }: Pick<CallRecord, 'hook' | 'text' | 'detail'>): string {
  if (hook === hookCode.on_rpc) return text ?? ''
  return hook === hookCode.on_message ? String(detail) : ''
}

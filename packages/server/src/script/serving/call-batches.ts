import { scriptOrigins } from '@guildhall/contract'
import { atEndOfTurn, type Clock } from '../../kernel/clock.ts'
import type { CallContext } from '../../kernel/play/calls.ts'
import type { NewCall } from '../calls.ts'
import { type CallRecord, type CallTexts, encodeCalls } from '../wire/call-records.ts'
import { hookCode } from '../wire/hooks.ts'
import { batchLimits, limits } from '../wire/limits.ts'
import type { DoneRecord } from '../wire/output-records.ts'
import type { CallBatch, HostResult, NodeTime } from '../wire/protocol.ts'

/** A call that a script has been given. */
export type OpenCall = {
  readonly record: CallRecord
  readonly call: NewCall
  /** When it was sent to the worker; 0 while it waits. */
  postedMs: number
  /** From when on it may have begun: its batch is answered. */
  begunMs: number | undefined
  /** How many calls it had to wait for in the worker. */
  ahead: number
  /** What the node keeps of its answers to it: a reply of the same bytes does not travel. */
  answered: { readonly call: number; readonly bytes: Uint8Array } | undefined
}

/** A call that waits to be sent. */
export function newOpenCall(call: NewCall): OpenCall {
  const { context } = call
  const record: CallRecord = {
    id: 0,
    hook: call.hook,
    participant: context.participant,
    room_id: context.room_id,
    detail: call.detail ?? 0,
    unreliable: call.unreliable ?? false,
    origin: scriptOrigins.indexOf(call.origin),
    body: call.body ?? noBytes,
    text: call.text ?? null,
    about: undefined,
    group: undefined,
    isOver: false,
  }
  return { record, call, postedMs: 0, begunMs: undefined, ahead: 0, answered: undefined }
}

const noBytes = new Uint8Array(0)

type BatchDeps = {
  /** By this clock calls are timed. */
  clock: Pick<Clock, 'monotonicMs'>
  nodeTime: () => NodeTime | undefined
  post: (batch: CallBatch) => void
  /** A call is about to be sent; it has its id. */
  posted: (open: OpenCall) => void
}

/** As much as calls that wait may have. */
const keptBytesMax = 16_777_216

/** Taken calls are cut off the waiting list once there are this many. */
const keptHead = 1_024

/**
 * The way of calls and results to one worker. What comes up in one turn of the event loop travels
 * in one message; while the worker is busy, what comes up waits and travels together.
 */
export class CallBatches {
  readonly #deps: BatchDeps
  /** What the worker knows about each participant: texts travel only when they are new. */
  readonly #known = new Map<number, CallTexts>()
  #waiting: OpenCall[] = []
  #head = 0
  #results: HostResult[] = []
  /** The calls of each batch that the worker has not answered. */
  #unanswered: (readonly OpenCall[])[] = []
  #lastId = 0
  /** Of answers to calls that are open; those that share one count for themselves. */
  #keptBytes = 0
  #pumpWanted = false

  constructor(deps: BatchDeps) {
    this.#deps = deps
  }

  add(open: OpenCall): void {
    this.#waiting.push(open)
    this.#wantPump()
  }

  /** The answer to what an open call has asked for, if it was one. */
  addResult(result: HostResult, open: OpenCall | undefined): void {
    this.#results.push(open === undefined ? result : this.#keep(result, open))
    this.#wantPump()
  }

  /** A call has ended: nothing is kept for it any more. */
  ended(open: OpenCall): void {
    this.#keptBytes -= open.answered?.bytes.length ?? 0
    open.answered = undefined
  }

  /** The first answer of bytes to a call that is replied to with bytes, if there is room for it. */
  #keep(result: HostResult, open: OpenCall): HostResult {
    if (open.record.hook !== hookCode.on_rpc || open.answered) return result
    if (!result.ok || !isReply(result.value)) return result
    const { id, value: bytes } = result
    if (this.#keptBytes + bytes.length > keptBytesMax) return result
    this.#keptBytes += bytes.length
    open.answered = { call: id, bytes }
    return { id, ok: true, value: bytes, kept: true }
  }

  /** The worker has started all calls of so many batches; false if they were not sent. */
  answered(count: number): boolean {
    if (count > this.#unanswered.length) return false
    const nowMs = this.#deps.clock.monotonicMs()
    for (const calls of this.#unanswered.splice(0, count)) {
      for (const open of calls) open.begunMs = nowMs
    }
    return true
  }

  /** Sends what may be sent now. */
  pump(): void {
    while (this.#mayPost()) this.#post()
  }

  /** The calls that were not sent; they are not sent any more. */
  takeWaiting(): OpenCall[] {
    const waiting = this.#waiting.slice(this.#head)
    this.#waiting = []
    this.#head = 0
    return waiting
  }

  /** Whether every call was sent and has begun, and every result was sent. */
  get isQuiet(): boolean {
    const waiting = this.#waiting.length - this.#head + this.#results.length
    return waiting + this.#unanswered.length === 0 && !this.#pumpWanted
  }

  #wantPump(): void {
    if (this.#pumpWanted) return
    this.#pumpWanted = true
    atEndOfTurn(() => {
      this.#pumpWanted = false
      this.pump()
    })
  }

  /**
   * One batch goes out whenever none is unanswered. A second one only goes along when it is worth
   * its own trip: a busy worker takes few large batches at less cost than many small ones.
   */
  #mayPost(): boolean {
    const waiting = this.#waiting.length - this.#head
    if (waiting + this.#results.length === 0) return false
    if (this.#unanswered.length === 0) return true
    return this.#unanswered.length < batchLimits.unanswered && waiting >= batchLimits.calls / 4
  }

  #post(): void {
    const calls = this.#takeBatch()
    const { buffer, texts } = encodeCalls(calls.map(({ record }) => record))
    this.#unanswered.push(calls)
    const results = this.#results
    this.#results = []
    this.#deps.post({
      type: 'batch',
      calls: calls.length,
      buffer,
      texts,
      results,
      now: this.#deps.nodeTime(),
    })
  }

  #takeBatch(): OpenCall[] {
    const calls: OpenCall[] = []
    const postedMs = this.#deps.clock.monotonicMs()
    let bytes = 0
    while (calls.length < batchLimits.calls) {
      const open = this.#waiting[this.#head]
      if (!open) break
      bytes += open.record.body.byteLength
      if (calls.length > 0 && bytes > batchLimits.bodyBytes) break
      this.#head += 1
      this.#lastId += 1
      open.record.id = this.#lastId
      open.record.about = this.#newsAbout(open.record, open.call.context)
      open.postedMs = postedMs
      this.#deps.posted(open)
      calls.push(open)
    }
    if (this.#head === this.#waiting.length || this.#head > keptHead) {
      this.#waiting = this.#waiting.slice(this.#head)
      this.#head = 0
    }
    return calls
  }

  #newsAbout({ participant, hook }: CallRecord, context: CallContext): CallTexts | undefined {
    if (participant === 0) return undefined
    const known = this.#known.get(participant)
    const same =
      known !== undefined &&
      known.user_id === context.user_id &&
      known.username === context.username &&
      known.match_id === context.match_id
    if (hook === hookCode.on_leave) this.#known.delete(participant)
    else if (!same) this.#known.set(participant, context)
    return same ? undefined : context
  }
}

/** What a call is replied with, if all went well. */
export function replyOf({ answered }: OpenCall, { reply, handed }: DoneRecord): Uint8Array {
  return handed !== undefined && handed === answered?.call ? answered.bytes : reply
}

function isReply(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && value.length <= limits.replyBytes
}

/** The match of a room that a tick runs in. */
export function matchOf(open: OpenCall | undefined, room_id: number | null): string | null {
  const room = open?.call.rooms?.find((each) => each.room_id === room_id)
  return room?.match_id ?? null
}

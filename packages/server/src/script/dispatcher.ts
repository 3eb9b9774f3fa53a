import { type ScriptOrigin, scriptApi, scriptOrigins } from '@guildhall/contract'
import { atEndOfTurn, type Clock } from '../kernel/clock.ts'
import { readJson } from '../kernel/json/json-reader.ts'
import type { Log } from '../kernel/log/log.ts'
import { type CallContext, nobody } from '../kernel/play/calls.ts'
import type { TickRoom } from '../kernel/play/room-commands.ts'
import type { ScriptCaller } from '../kernel/play/script.ts'
import type { Outcome } from './calls.ts'
import type { ScriptConfig } from './config.ts'
import { checkedArguments } from './functions/arguments.ts'
import { createHostCallAnswerer } from './functions/host-calls.ts'
import { createInbox, type Inbox } from './inbox.ts'
import { causeOf, type FailureCause, handlerOf, tooLong } from './log/handler-failure.ts'
import type { ScriptMetrics } from './metrics.ts'
import { noPorts, type ScriptPorts } from './ports.ts'
import { createScriptTimers } from './timers/script-timers.ts'
import type { FailuresView } from './view/failures-view.ts'
import { type CallRecord, type CallTexts, encodeCalls } from './wire/call-records.ts'
import { hookCode, hookNameOf } from './wire/hooks.ts'
import { batchLimits } from './wire/limits.ts'
import {
  type CommandRecord,
  type DoneRecord,
  type FailedRun,
  type OutputVisitor,
  visitOutput,
} from './wire/output-records.ts'
import { isOverdue, type Overdue } from './wire/overdue.ts'
import type { HostResult, NodeTime, OutputBatch, ToWorker } from './wire/protocol.ts'

/** A call of a handler, as the host makes it. */
export type NewCall = {
  hook: number
  context: CallContext
  origin: ScriptOrigin
  detail?: number
  unreliable?: boolean
  body?: Uint8Array
  text?: string
  /** Of a tick: the rooms that it runs in after the run without a room. */
  rooms?: readonly TickRoom[]
  settle: (outcome: Outcome) => void
}

/** The part of a worker that calls need. */
export type CallSink = {
  post(message: ToWorker): void
  ping(): void
}

type OpenCall = { record: CallRecord; context: CallContext; postedMs: number; call: NewCall }

export type DispatcherDeps = {
  config: ScriptConfig
  clock: Clock
  log: Log
  metrics: ScriptMetrics
  /** The time that the script shall read; undefined = it reads its own clock. */
  nodeTime: () => NodeTime | undefined
  view: Pick<FailuresView, 'handlerFailed' | 'callEnded'>
  /** Called with the hook of each answered call, and the milliseconds since it was sent. */
  observeCall?: ((hook: string, durationMs: number) => void) | undefined
}

/**
 * Carries calls to the worker and its commands to the gateway. What comes up in one turn of the
 * event loop travels in one message; while the worker is busy, what comes up waits and travels
 * together.
 */
export class Dispatcher {
  readonly inbox: Inbox
  readonly #deps: DispatcherDeps
  #ports: Pick<ScriptPorts, 'delivery' | 'functions'> = noPorts
  #answer: ReturnType<typeof createHostCallAnswerer>
  readonly #visitor: OutputVisitor
  readonly #open = new Map<number, OpenCall>()
  readonly #timers: ReturnType<typeof createScriptTimers>
  /** What the worker knows about each participant: texts travel only when they are new. */
  readonly #known = new Map<number, CallTexts>()
  #sink: CallSink | undefined
  #revisionId: string | null = null
  #waiting: OpenCall[] = []
  #head = 0
  #results: HostResult[] = []
  #lastId = 0
  #batches = 0
  #unanswered = 0
  /** Calls of the worker that wait for a feature. */
  #asked = 0
  #pumpWanted = false

  constructor(deps: DispatcherDeps) {
    this.#deps = deps
    this.inbox = createInbox(deps.config)
    this.#answer = this.#createAnswerer()
    this.#timers = createScriptTimers({
      clock: deps.clock,
      run: (timer, settle) => this.#runTimer(timer, settle),
      skipped: () => {
        deps.metrics.ticksSkipped += 1
      },
      isBusy: () => this.inbox.isFull(),
    })
    this.#visitor = this.#createVisitor()
  }

  /** From here on scripts reach the node; to be called before a worker is attached. */
  connect(ports: Pick<ScriptPorts, 'delivery' | 'functions'>): void {
    this.#ports = ports
    this.#answer = this.#createAnswerer()
  }

  /** Begins to serve with a worker that has loaded. */
  attach(sink: CallSink, revisionId: string): void {
    this.#sink = sink
    this.#revisionId = revisionId
    this.#unanswered = 0
  }

  /** The worker is gone: what was open or waiting is lost, or at fault when a slice was overdue. */
  detach(overdue?: Overdue): void {
    this.#sink = undefined
    this.#timers.clear()
    this.#known.clear()
    this.#results = []
    const posted = [...this.#open.values()]
    const waiting = this.#waiting.slice(this.#head)
    this.#open.clear()
    this.#waiting = []
    this.#head = 0
    for (const open of posted) {
      const timedOut = overdue !== undefined && isOverdue(open.record.id, overdue)
      if (timedOut) this.#report(open, tooLong)
      this.#settle(open, timedOut ? { status: 'timed_out', cause: tooLong } : { status: 'lost' })
    }
    for (const open of waiting) this.#settle(open, { status: 'lost' })
  }

  /** Lets the timers run that the top level has set. */
  startTimers(): void {
    this.#timers.start()
  }

  /** Hands a call to the worker with the others of this turn. */
  call(call: NewCall): void {
    const { context } = call
    if (!this.#sink) {
      call.settle({ status: 'lost' })
      return
    }
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
    }
    this.inbox.add(record.body.byteLength)
    this.#waiting.push({ record, context, postedMs: 0, call })
    this.#wantPump()
  }

  /** Takes a batch of the worker; false when it is malformed. */
  receive(batch: OutputBatch): boolean {
    if (batch.answered > this.#unanswered) return false
    this.#unanswered -= batch.answered
    for (const call of batch.calls) void this.#answerHostCall(call)
    const wellFormed = visitOutput(batch, this.#visitor)
    this.#pump()
    return wellFormed
  }

  /** Whether nothing is on its way: every call has begun, and every answer has arrived. */
  get isQuiet(): boolean {
    const waiting = this.#waiting.length - this.#head + this.#results.length
    return waiting + this.#unanswered + this.#asked === 0 && !this.#pumpWanted
  }

  /** Called now and then: has the worker look at calls that may have lasted too long. */
  lookForOldCalls(): void {
    const oldest = this.#open.values().next().value
    if (!oldest) return
    const ageMs = this.#deps.clock.monotonicMs() - oldest.postedMs
    if (ageMs >= this.#deps.config.call_timeout_ms) this.#sink?.ping()
  }

  #wantPump(): void {
    if (this.#pumpWanted) return
    this.#pumpWanted = true
    atEndOfTurn(() => {
      this.#pumpWanted = false
      this.#pump()
    })
  }

  #pump(): void {
    while (this.#sink && this.#mayPost()) this.#post(this.#sink)
  }

  /**
   * One batch goes out whenever none is unanswered. A second one only goes along when it is worth
   * its own trip: a busy worker takes few large batches at less cost than many small ones.
   */
  #mayPost(): boolean {
    const waiting = this.#waiting.length - this.#head
    if (waiting + this.#results.length === 0) return false
    if (this.#unanswered === 0) return true
    return this.#unanswered < batchLimits.unanswered && waiting >= batchLimits.calls / 4
  }

  #post(sink: CallSink): void {
    const records: CallRecord[] = []
    const postedMs = this.#deps.clock.monotonicMs()
    let bytes = 0
    while (records.length < batchLimits.calls) {
      const open = this.#waiting[this.#head]
      if (!open) break
      bytes += open.record.body.byteLength
      if (records.length > 0 && bytes > batchLimits.bodyBytes) break
      this.#head += 1
      this.#lastId += 1
      open.record.id = this.#lastId
      open.record.about = this.#newsAbout(open.record, open.context)
      open.postedMs = postedMs
      this.#open.set(open.record.id, open)
      records.push(open.record)
    }
    if (this.#head === this.#waiting.length || this.#head > keptHead) {
      this.#waiting = this.#waiting.slice(this.#head)
      this.#head = 0
    }
    const { buffer, texts } = encodeCalls(records)
    this.#batches += 1
    this.#unanswered += 1
    const results = this.#results
    this.#results = []
    sink.post({
      type: 'batch',
      seq: this.#batches,
      calls: records.length,
      buffer,
      texts,
      results,
      now: this.#deps.nodeTime(),
    })
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

  async #answerHostCall(call: OutputBatch['calls'][number]): Promise<void> {
    const sink = this.#sink
    this.#asked += 1
    const result = await this.#answer(call, this.#callerOf(call.invocation, call.room_id))
    this.#asked -= 1
    if (sink !== this.#sink) return
    this.#results.push(result)
    this.#wantPump()
  }

  /** Whom a call of the worker runs for: 0 is none of the calls that are open. */
  #callerOf(id: number, room_id: number | null): ScriptCaller {
    const open = this.#open.get(id)
    const { participant, user_id, match_id: own } = open?.context ?? nobody
    const match_id = own ?? matchOf(open, room_id)
    const origin = open?.call.origin ?? 'server'
    return { origin, participant, user_id, room_id, match_id, revision_id: this.#revisionId ?? '' }
  }

  #createAnswerer() {
    const { config, log } = this.#deps
    return createHostCallAnswerer({ functions: this.#ports.functions, tier: config.tier, log })
  }

  #createVisitor(): OutputVisitor {
    const { metrics, log } = this.#deps
    const deliver = (work: () => void) => {
      metrics.commands += 1
      try {
        work()
      } catch (error) {
        log.error('a command of the script could not be delivered', { error })
      }
    }
    return {
      done: (id, done) => this.#done(id, done),
      broadcast: (command) => deliver(() => this.#ports.delivery.broadcast(command)),
      send: (command) => deliver(() => this.#ports.delivery.send(command)),
      command: (command) => deliver(() => this.#command(command)),
      failed: (id, run) => this.#failedRun(id, run),
      after: (timer, ms) => this.#timers.set({ timer, ms, repeats: false }),
      every: (timer, ms) => this.#timers.set({ timer, ms, repeats: true }),
      cancel: (timer) => this.#timers.cancel(timer),
    }
  }

  #command({ name, text, call, room_id }: CommandRecord): void {
    const { args, made } = parseCommand(text)
    const caller = this.#callerOf(call, room_id)
    this.#ports.functions[name]?.(caller, checkedArguments(name, scriptApi[name], args), made)
  }

  #runTimer(timer: number, settle: () => void): void {
    const about = { context: nobody, origin: 'server', detail: timer } as const
    this.call({ hook: hookCode.timer, ...about, settle })
  }

  #done(id: number, { status, reply, text, cpuUs }: DoneRecord): void {
    const open = this.#open.get(id)
    if (!open) return
    this.#open.delete(id)
    const { clock, observeCall, view } = this.#deps
    observeCall?.(hookNameOf(open.record.hook), clock.monotonicMs() - open.postedMs)
    view.callEnded(open.record, cpuUs)
    const cause = this.#reportRun(open, { status, text, cpuUs })
    if (status === 'ok') this.#settle(open, { status, reply })
    else if (status === 'failed_with_text') this.#settle(open, { status, text: text ?? '' })
    else if (status === 'too_large') this.#settle(open, { status })
    else this.#settle(open, { status, cause })
  }

  /** One run of a tick has failed; the others go on. */
  #failedRun(id: number, run: FailedRun): void {
    const open = this.#open.get(id)
    if (!open) return
    this.#deps.metrics.countRun(run.status)
    this.#reportRun(open, run)
  }

  #reportRun(open: OpenCall, run: FailedRun): FailureCause | undefined {
    const cause = causeOf(open.record, run, this.#deps.config.deadline_ms)
    if (cause !== undefined) this.#report(open, cause)
    return cause
  }

  #report({ record }: OpenCall, cause: FailureCause): void {
    const revision_id = this.#revisionId ?? ''
    this.#deps.view.handlerFailed({ ...handlerOf(record), ...cause, revision_id })
  }

  #settle(open: OpenCall, outcome: Outcome): void {
    this.#deps.metrics.count(outcome.status)
    this.inbox.remove(open.record.body.byteLength)
    open.call.settle(outcome)
  }
}

const noBytes = new Uint8Array(0)

/** Taken calls are cut off the waiting list once there are this many. */
const keptHead = 1_024

/** What the worker wrote; `checkedArguments` looks at the arguments. */
function parseCommand(text: string): { args: readonly unknown[]; made: unknown } {
  const { value } = readJson(text)
  const given = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  return { args: Array.isArray(given.args) ? given.args : [], made: given.made }
}

/** The match of a room that a tick runs in. */
function matchOf(open: OpenCall | undefined, room_id: number | null): string | null {
  const room = open?.call.rooms?.find((each) => each.room_id === room_id)
  return room?.match_id ?? null
}

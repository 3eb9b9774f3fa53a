import { scriptOrigins } from '@guildhall/contract'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import { nobody } from '../../kernel/play/calls.ts'
import type { ScriptCaller } from '../../kernel/play/script.ts'
import type { NewCall, Outcome } from '../calls.ts'
import type { ScriptConfig } from '../config.ts'
import type { HostCallAnswerer } from '../functions/host-calls.ts'
import type { Inbox } from '../inbox.ts'
import { causeOf, type FailureCause, handlerOf, tooLong } from '../log/handler-failure.ts'
import type { ScriptMetrics } from '../metrics.ts'
import type { ScriptPorts } from '../ports.ts'
import { createScriptTimers } from '../timers/script-timers.ts'
import type { FailuresView } from '../view/failures-view.ts'
import type { CallRecord } from '../wire/call-records.ts'
import { type Handlers, hookCode, hookNameOf, hooksByCode } from '../wire/hooks.ts'
import { protocolTimes } from '../wire/limits.ts'
import {
  type DoneRecord,
  type FailedRun,
  type OutputVisitor,
  visitOutput,
} from '../wire/output-records.ts'
import { isOverdue, type Overdue } from '../wire/overdue.ts'
import type { NodeTime, OutputBatch, StartReason, ToWorker } from '../wire/protocol.ts'
import { CallBatches, type OpenCall } from './call-batches.ts'
import { createCommands } from './commands.ts'
import { createOpenLanes } from './open-lanes.ts'

/**
 * What becomes of a script whose worker lives:
 *
 *   loading   its top level runs; the timers that it sets wait
 *   starting  on_start runs, and so do the timers that it sets; calls wait
 *   serving   calls go to the worker
 *   retired   another script is active: this one ends what it has, and gets what is bound to it
 *   ended     its worker is gone, and what it had is lost
 */
type State = 'loading' | 'starting' | 'serving' | 'retired' | 'ended'

/** The part of a worker that calls need. */
export type CallSink = {
  post(message: ToWorker): void
  ping(): void
}

/** What a script that has loaded is. */
export type Identity = {
  readonly revision_id: string
  readonly generation: number
  readonly handlers: Handlers
}

export type ServingDeps = {
  config: Pick<ScriptConfig, 'deadline_ms' | 'call_timeout_ms'>
  /** By this clock the script's timers run. */
  clock: Clock
  /** By this clock its calls are timed. */
  processClock: Clock
  log: Log
  metrics: ScriptMetrics
  inbox: Inbox
  ports: Pick<ScriptPorts, 'delivery' | 'functions'>
  answer: HostCallAnswerer
  view: Pick<FailuresView, 'handlerFailed' | 'callEnded'>
  /** The time that the script shall read; undefined = it reads its own clock. */
  nodeTime: () => NodeTime | undefined
  /** Called with the hook of each answered call, and the milliseconds since it was sent. */
  observeCall?: ((hook: string, durationMs: number) => void) | undefined
  /** Called when a call of a retired script has settled. */
  settled(script: ServingScript): void
}

/**
 * A loaded script and its worker: carries calls there and commands back, and knows what is open.
 * Who calls it is the router's business.
 */
export class ServingScript {
  readonly #deps: ServingDeps
  readonly #batches: CallBatches
  readonly #timers: ReturnType<typeof createScriptTimers>
  readonly #visitor: OutputVisitor
  readonly #lanes = createOpenLanes()
  readonly #open = new Map<number, OpenCall>()
  #state: State = 'loading'
  #sink: CallSink | undefined
  #identity: Identity = { revision_id: '', generation: 0, handlers: noHandlers }
  #kinds: ReadonlySet<number> = new Set()
  #methods: ReadonlySet<string> = new Set()
  /** Calls that wait for on_start. */
  #gated: OpenCall[] = []
  /** Calls of the worker that wait for a feature. */
  #asked = 0

  constructor(deps: ServingDeps) {
    this.#deps = deps
    this.#batches = new CallBatches({
      clock: deps.processClock,
      nodeTime: deps.nodeTime,
      post: (batch) => this.#sink?.post(batch),
      posted: (open) => this.#posted(open),
    })
    this.#timers = createScriptTimers({
      clock: deps.clock,
      run: (timer, settle) => this.#runTimer(timer, settle),
      skipped: () => {
        deps.metrics.ticksSkipped += 1
      },
      isBusy: () => deps.inbox.isFull(),
    })
    this.#visitor = this.#createVisitor()
  }

  get identity(): Identity {
    return this.#identity
  }

  handlesKind(kind: number): boolean {
    return this.#kinds.has(kind)
  }

  handlesMethod(method: string): boolean {
    return this.#methods.has(method)
  }

  /** Whether calls still wait for on_start. */
  get isStarting(): boolean {
    return this.#state === 'starting'
  }

  /** Whether every call that it was given has settled. */
  get isIdle(): boolean {
    return this.#open.size === 0 && this.#gated.length === 0 && this.#batches.isQuiet
  }

  /** Whether nothing is on its way: every call has begun, and every answer has arrived. */
  get isQuiet(): boolean {
    return this.#batches.isQuiet && this.#asked === 0
  }

  /**
   * The top level has ended: runs on_start. Resolves when that has settled, however it ended, at
   * most its timeout later; calls wait until then.
   */
  start(sink: CallSink, identity: Identity, reason: StartReason): Promise<void> {
    const { handlers } = identity
    this.#sink = sink
    this.#identity = identity
    this.#kinds = new Set(handlers.message_kinds)
    this.#methods = new Set(handlers.rpcs)
    this.#state = 'starting'
    this.#timers.loaded()
    if (!handlers.hooks.includes('on_start')) {
      this.#openGate()
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      const settle = () => {
        this.#openGate()
        resolve()
      }
      const about = { context: nobody, origin: 'server', text: JSON.stringify({ reason }) } as const
      this.#send({ hook: hookCode.on_start, ...about, settle })
    })
  }

  /** Hands a call to the worker with the others of this turn. */
  call(call: NewCall): void {
    if (this.#state === 'ended') {
      call.settle({ status: 'lost' })
      return
    }
    if (this.#state === 'starting' && !passesGate(call)) this.#gated.push(this.#take(call))
    else this.#send(call)
  }

  /** Takes a batch of the worker; false when it is malformed. */
  receive(batch: OutputBatch): boolean {
    if (!this.#batches.answered(batch.answered)) return false
    for (const call of batch.calls) void this.#answerHostCall(call)
    const wellFormed = visitOutput(batch, this.#visitor)
    if (this.#state !== 'ended') this.#batches.pump()
    return wellFormed
  }

  /** How many of its open calls a new one would have to wait for. */
  ahead(call: NewCall): number {
    return this.#lanes.ahead(call)
  }

  /**
   * Another script is active from now on. What was not sent to the worker yet is the router's
   * again; timers go on for the rooms that are bound to this script, if there are any.
   */
  retire({ keepsTimers }: { keepsTimers: boolean }): NewCall[] {
    this.#state = 'retired'
    if (!keepsTimers) this.#timers.end()
    return this.#takeUnsent().map((open) => {
      this.#deps.inbox.remove(open.record.body.byteLength)
      return open.call
    })
  }

  /** The worker is gone: what was open or waiting is lost, or at fault when a slice was overdue. */
  end(overdue?: Overdue): void {
    this.#state = 'ended'
    this.#sink = undefined
    this.#timers.end()
    const unsent = this.#takeUnsent()
    for (const open of [...this.#open.values()]) {
      const timedOut = overdue !== undefined && isOverdue(open.record.id, overdue)
      if (timedOut) this.#report(open, tooLong)
      this.#close(open, timedOut ? { status: 'timed_out', cause: tooLong } : { status: 'lost' })
    }
    for (const open of unsent) this.#settle(open, { status: 'lost' })
  }

  /**
   * Called now and then. The worker gives up calls that have lasted too long, when it looks; a
   * call that it does not give up in time is given up here.
   */
  lookForOldCalls(): void {
    const oldest = this.#open.values().next().value
    if (!oldest) return
    const nowMs = this.#deps.processClock.monotonicMs()
    const ageMs = nowMs - oldest.postedMs
    const { call_timeout_ms } = this.#deps.config
    if (ageMs >= call_timeout_ms) this.#sink?.ping()
    if (ageMs < call_timeout_ms + protocolTimes.graceMs) return
    for (const open of [...this.#open.values()]) {
      if (open.begunMs === undefined) return
      const limitMs = call_timeout_ms * (1 + open.ahead) + protocolTimes.graceMs
      if (nowMs - open.begunMs < limitMs) continue
      this.#report(open, tooLong)
      this.#close(open, { status: 'timed_out', cause: tooLong })
    }
  }

  #openGate(): void {
    if (this.#state !== 'starting') return
    this.#state = 'serving'
    this.#timers.start()
    const gated = this.#gated
    this.#gated = []
    for (const open of gated) this.#batches.add(open)
  }

  #send(call: NewCall): void {
    this.#batches.add(this.#take(call))
  }

  #take(call: NewCall): OpenCall {
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
    }
    this.#deps.inbox.add(record.body.byteLength)
    return { record, call, postedMs: 0, begunMs: undefined, ahead: 0 }
  }

  #posted(open: OpenCall): void {
    open.ahead = this.#lanes.ahead(open.call)
    this.#lanes.enter(open.call)
    this.#open.set(open.record.id, open)
  }

  #takeUnsent(): OpenCall[] {
    const unsent = [...this.#batches.takeWaiting(), ...this.#gated]
    this.#gated = []
    return unsent
  }

  #runTimer(timer: number, settle: () => void): void {
    const about = { context: nobody, origin: 'server', detail: timer } as const
    this.call({ hook: hookCode.timer, ...about, settle })
  }

  async #answerHostCall(call: OutputBatch['calls'][number]): Promise<void> {
    this.#asked += 1
    const result = await this.#deps.answer(call, this.#callerOf(call.invocation, call.room_id))
    this.#asked -= 1
    if (this.#state !== 'ended') this.#batches.addResult(result)
  }

  /** Whom a call of the worker runs for: 0 is none of the calls that are open. */
  #callerOf(id: number, room_id: number | null): ScriptCaller {
    const open = this.#open.get(id)
    const { participant, user_id, match_id: own } = open?.call.context ?? nobody
    const match_id = own ?? matchOf(open, room_id)
    const origin = open?.call.origin ?? 'server'
    const { revision_id } = this.#identity
    return { origin, participant, user_id, room_id, match_id, revision_id }
  }

  #createVisitor(): OutputVisitor {
    const callerOf = (id: number, room_id: number | null) => this.#callerOf(id, room_id)
    return {
      ...createCommands({ ...this.#deps, callerOf }),
      done: (id, done) => this.#done(id, done),
      failed: (id, run) => this.#failedRun(id, run),
      after: (timer, ms) => this.#timers.set({ timer, ms, repeats: false }),
      every: (timer, ms) => this.#timers.set({ timer, ms, repeats: true }),
      cancel: (timer) => this.#timers.cancel(timer),
    }
  }

  #done(id: number, { status, reply, text, cpuUs }: DoneRecord): void {
    const open = this.#open.get(id)
    if (!open) return
    const { processClock, observeCall, view } = this.#deps
    observeCall?.(hookNameOf(open.record.hook), processClock.monotonicMs() - open.postedMs)
    view.callEnded(open.record, cpuUs)
    const cause = this.#reportRun(open, { status, text, cpuUs })
    if (status === 'ok') this.#close(open, { status, reply })
    else if (status === 'failed_with_text')
      this.#close(open, { status, text: text ?? '', more: reply })
    else if (status === 'too_large') this.#close(open, { status })
    else this.#close(open, { status, cause })
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
    const { revision_id } = this.#identity
    this.#deps.view.handlerFailed({ ...handlerOf(record), ...cause, revision_id })
  }

  /** Ends a call that was sent. */
  #close(open: OpenCall, outcome: Outcome): void {
    this.#open.delete(open.record.id)
    this.#lanes.leave(open.call)
    this.#settle(open, outcome)
    if (this.#state === 'retired' || this.#state === 'ended') this.#deps.settled(this)
  }

  #settle({ record, call }: OpenCall, outcome: Outcome): void {
    this.#deps.metrics.count(outcome.status)
    this.#deps.inbox.remove(record.body.byteLength)
    call.settle(outcome)
  }
}

const noBytes = new Uint8Array(0)
const noHandlers: Handlers = { rpcs: [], message_kinds: [], hooks: [], filters: [] }

/**
 * What runs while on_start does: timers that it set, and filters, which its own writes to the
 * storage wait for.
 */
function passesGate({ hook }: NewCall): boolean {
  return hook === hookCode.timer || hooksByCode[hook]?.immediate === true
}

/** The match of a room that a tick runs in. */
function matchOf(open: OpenCall | undefined, room_id: number | null): string | null {
  const room = open?.call.rooms?.find((each) => each.room_id === room_id)
  return room?.match_id ?? null
}

import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import { nobody } from '../../kernel/play/calls.ts'
import type { ScriptCaller } from '../../kernel/play/script.ts'
import type { NewCall, Outcome, StartOutcome } from '../calls.ts'
import type { ScriptConfig } from '../config.ts'
import type { HostCallAnswerer } from '../functions/host-calls.ts'
import type { Inbox } from '../inbox.ts'
import { tooLong } from '../log/handler-failure.ts'
import type { ScriptMetrics } from '../metrics.ts'
import type { ScriptPorts } from '../ports.ts'
import { createScriptTimers } from '../timers/script-timers.ts'
import type { FailuresView } from '../view/failures-view.ts'
import { hookCode, hookNameOf, noHandlers } from '../wire/hooks.ts'
import { protocolTimes } from '../wire/limits.ts'
import { type DoneRecord, type OutputVisitor, visitOutput } from '../wire/output-records.ts'
import { isOverdue, type Overdue } from '../wire/overdue.ts'
import type { NodeTime, OutputBatch } from '../wire/protocol.ts'
import { CallBatches, matchOf, newOpenCall, type OpenCall, replyOf } from './call-batches.ts'
import { createCallEndings, lateCalls } from './call-endings.ts'
import { createCommands } from './commands.ts'
import { Gates } from './gates.ts'
import type { CallSink, Identity, StartArgument } from './identity.ts'
import { createOpenLanes } from './open-lanes.ts'

/**
 * What becomes of a script whose worker lives:
 *
 *   loading   its top level runs; the timers that it sets wait
 *   starting  on_start runs, and so do the timers that it sets; calls wait
 *   serving   calls go to the worker
 *   paused    it hands over: what it was sent ends, and calls wait; it may serve again
 *   retired   another script is active: this one ends what it has, and gets what is bound to it
 *   ended     its worker is gone, and what it had is lost
 */
type State = 'loading' | 'starting' | 'serving' | 'paused' | 'retired' | 'ended'

export type ServingDeps = {
  config: Pick<ScriptConfig, 'deadline_ms' | 'call_timeout_ms'>
  /** By this clock the script's timers run. */
  clock: Clock
  /** By this clock its calls are timed. */
  processClock: Clock
  log: Log
  metrics: ScriptMetrics
  inbox: Inbox
  ports: Pick<ScriptPorts, 'delivery' | 'functions' | 'states'>
  hostCalls: HostCallAnswerer
  view: Pick<FailuresView, 'handlerFailed' | 'callEnded'>
  /** The time that the script shall read; undefined = it reads its own clock. */
  nodeTime: () => NodeTime | undefined
  /** How many rooms with state there are. */
  stateRoomCount(): number
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
  readonly #gates = new Gates()
  readonly #endings: ReturnType<typeof createCallEndings>
  readonly #visitor: OutputVisitor
  readonly #lanes = createOpenLanes()
  readonly #open = new Map<number, OpenCall>()
  #state: State = 'loading'
  #sink: CallSink | undefined
  #identity: Identity = { revision_id: '', generation: 0, handlers: noHandlers }
  /** Of its on_start. */
  #started: Promise<StartOutcome> = Promise.resolve({ status: 'ok' })
  #kinds: ReadonlySet<number> = new Set()
  #methods: ReadonlySet<string> = new Set()
  /** Calls that wait for on_start, or for the end of a hand-over. */
  #gated: OpenCall[] = []
  /** The states of rooms are its own: else another script has them. */
  #hasStates = true
  /** Calls of the worker that wait for a feature, and not for the clock. */
  #asked = 0
  readonly #whenSettled: (() => void)[] = []

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
      isSet: (timer) => this.#gates.timerSet(timer),
      skipped: deps.metrics.countSkipped,
      isBusy: () => deps.inbox.isFull() || !this.#gates.mayRepeat(this.#state, this.#open.keys()),
      rooms: deps.stateRoomCount,
    })
    this.#endings = createCallEndings({ ...deps, revision: () => this.#identity.revision_id })
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

  /** Whether calls wait: for on_start, or while it hands over. */
  get isHeld(): boolean {
    return this.#state === 'starting' || this.#state === 'paused'
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
   * The top level has ended: runs on_start. Resolves when that has settled, to how it ended, at
   * most its timeout later; calls wait until then.
   */
  start(sink: CallSink, identity: Identity, start: StartArgument): Promise<StartOutcome> {
    const { handlers } = identity
    this.#sink = sink
    this.#identity = identity
    this.#kinds = new Set(handlers.message_kinds)
    this.#methods = new Set(handlers.rpcs)
    if (this.#state === 'ended') return Promise.resolve({ status: 'lost' })
    this.#state = 'starting'
    this.#timers.loaded()
    if (!handlers.hooks.includes('on_start')) {
      this.#openGate()
      return Promise.resolve({ status: 'ok' })
    }
    const { reason, state = 'null' } = start
    this.#started = this.#ask(hookCode.on_start, `{"reason":"${reason}","state":${state}}`)
    return this.#started
  }

  /** Resolves once its on_start has settled, if that runs. */
  async onceStarted(): Promise<void> {
    await this.#started
  }

  /** No calls any more but filters and timers, which what is open may wait for. */
  pause(): void {
    if (this.#state === 'ended') return
    this.#state = 'paused'
    this.#gates.drain(this.#open.keys())
    const waiting = this.#batches.takeWaiting()
    this.#gated = [...waiting.filter(({ call }) => this.#isHeld(call)), ...this.#gated]
    for (const open of waiting) if (!this.#isHeld(open.call)) this.#batches.add(open)
  }

  /** Calls again, beginning with those that have waited. */
  resume(): void {
    if (this.#state !== 'paused') return
    this.#state = 'serving'
    this.#sendGated()
  }

  /** Runs on_unload. Resolves to how it ended; the reply is what it hands over, as JSON. */
  unload(reason: 'reload' | 'stop'): Promise<Outcome> {
    return this.#gates.unload(() => this.#ask(hookCode.on_unload, JSON.stringify({ reason })))
  }

  /** Hands over the newest states of its rooms. */
  saveRooms(): Promise<Outcome> {
    this.#gates.close()
    return this.#ask(hookCode.state_save, '')
  }

  /** Resolves once no call is open that was sent. */
  onceSettled(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenSettled.push(resolve))
  }

  /** Hands a call to the worker with the others of this turn. */
  call(call: NewCall): void {
    if (this.#state === 'ended') call.settle({ status: 'lost' })
    else if (this.#isHeld(call)) this.#gated.push(this.#take(call))
    else this.#send(call)
  }

  /** Takes a batch of the worker; false when it is malformed. */
  receive(batch: OutputBatch): boolean {
    if (!this.#batches.answered(batch.answered)) return false
    for (const call of batch.calls) void this.#answerHostCall(call)
    for (const call of batch.stopped) this.#deps.hostCalls.stop(call)
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
   * again; timers and states go on for the rooms that are bound to this script, if there are any.
   */
  retire({ keepsTimers }: { keepsTimers: boolean }): NewCall[] {
    this.#state = 'retired'
    this.#hasStates = keepsTimers
    if (!keepsTimers) this.#timers.end()
    const calls: NewCall[] = []
    for (const open of this.#takeUnsent()) {
      const isTimer = open.call.hook === hookCode.timer
      if (isTimer && keepsTimers) {
        this.#batches.add(open)
        continue
      }
      this.#deps.inbox.remove(open.record.body.byteLength)
      // A timer is nothing to another script.
      if (!isTimer) calls.push(open.call)
    }
    return calls
  }

  /** What is open has taken too long, whatever its time. */
  giveUp(): void {
    for (const open of [...this.#open.values()]) this.#giveUpCall(open)
  }

  /** The worker is gone: what was open or waiting is lost, or at fault when a slice was overdue. */
  end(overdue?: Overdue): void {
    this.#state = 'ended'
    this.#sink = undefined
    this.#timers.end()
    this.#deps.hostCalls.giveUpAll()
    const unsent = this.#takeUnsent()
    for (const open of [...this.#open.values()]) {
      const timedOut = overdue !== undefined && isOverdue(open.record.id, overdue)
      if (timedOut) this.#giveUpCall(open, overdue.running === 0)
      else this.#close(open, { status: 'lost' })
    }
    for (const open of unsent) this.#settle(open, { status: 'lost' })
  }

  /** Called now and then: gives up old calls that the worker should have given up itself. */
  lookForOldCalls(): void {
    const oldest = this.#open.values().next().value
    if (!oldest || this.#sink?.isAttached) return
    const nowMs = this.#deps.processClock.monotonicMs()
    const ageMs = nowMs - oldest.postedMs
    const { call_timeout_ms } = this.#deps.config
    if (ageMs >= call_timeout_ms) this.#sink?.ping()
    if (ageMs < call_timeout_ms + protocolTimes.graceMs) return
    const late = lateCalls(this.#open.values(), { nowMs, timeoutMs: call_timeout_ms })
    for (const open of late) this.#giveUpCall(open)
  }

  #giveUpCall(open: OpenCall, isSuspect = false): void {
    this.#endings.gaveUp(open)
    this.#close(open, { status: 'timed_out', cause: tooLong, isSuspect })
  }

  /** Calls a hook of the script's own life. */
  #ask(hook: number, text: string): Promise<Outcome> {
    if (this.#state === 'ended') return Promise.resolve({ status: 'lost' })
    return new Promise((resolve) => {
      const settle = (outcome: Outcome) => {
        this.#openGate()
        resolve(outcome)
      }
      this.#send({ hook, context: nobody, origin: 'server', text, settle })
    })
  }

  #isHeld(call: NewCall): boolean {
    return this.#gates.holds(call, this.#state, this.#open.size)
  }

  #openGate(): void {
    if (this.#state !== 'starting') return
    this.#state = 'serving'
    this.#timers.start()
    this.#sendGated()
  }

  #sendGated(): void {
    const gated = this.#gated
    this.#gated = []
    for (const open of gated) this.#batches.add(open)
  }

  #send(call: NewCall): void {
    this.#batches.add(this.#take(call))
  }

  #take(call: NewCall): OpenCall {
    const open = newOpenCall(call)
    this.#deps.inbox.add(open.record.body.byteLength)
    return open
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
    // A sleep ends by the clock, which a test moves when nothing else is on its way.
    const count = call.name === 'sleep' ? 0 : 1
    this.#asked += count
    const caller = this.#callerOf(call.invocation, call.room_id)
    const result = await this.#deps.hostCalls.answer(call, caller)
    this.#asked -= count
    if (this.#state !== 'ended') this.#batches.addResult(result, this.#open.get(call.invocation))
  }

  /** Whom a call of the worker runs for: 0 is none of the calls that are open. */
  #callerOf(id: number, room_id: number | null): ScriptCaller {
    const open = this.#open.get(id)
    const { participant, user_id, match_id: own } = open?.call.context ?? nobody
    const match_id = own ?? matchOf(open, room_id)
    const { origin = 'server', operator } = open?.call ?? {}
    const { revision_id } = this.#identity
    return { origin, participant, user_id, room_id, match_id, revision_id, operator }
  }

  #createVisitor(): OutputVisitor {
    const callerOf = (id: number, room_id: number | null) => this.#callerOf(id, room_id)
    return {
      ...createCommands({ ...this.#deps, callerOf, hasStates: () => this.#hasStates }),
      done: (id, done) => this.#done(id, done),
      failed: (id, run) => {
        const open = this.#open.get(id)
        if (open) this.#endings.runFailed(open, run)
      },
      fault: (name, text) => this.#endings.faulted(name, text),
      skipped: this.#deps.metrics.countSkipped,
      after: (timer, ms) => this.#timers.set({ timer, ms, repeats: false }),
      every: (timer, ms) => this.#timers.set({ timer, ms, repeats: true }),
      cancel: (timer) => this.#timers.cancel(timer),
    }
  }

  #done(id: number, done: DoneRecord): void {
    const open = this.#open.get(id)
    if (!open) return
    const { processClock, observeCall } = this.#deps
    observeCall?.(hookNameOf(open.record.hook), processClock.monotonicMs() - open.postedMs)
    const cause = this.#endings.done(open, done)
    const { status, reply, text, cpuUs } = done
    if (status === 'ok') this.#close(open, { status, reply: replyOf(open, done), cpuUs })
    else if (status === 'failed_with_text')
      this.#close(open, { status, text: text ?? '', more: reply })
    else this.#close(open, { status, cause })
  }

  /** Ends a call that was sent. */
  #close(open: OpenCall, outcome: Outcome): void {
    this.#open.delete(open.record.id)
    this.#batches.ended(open)
    if (outcome.status === 'timed_out') this.#deps.hostCalls.giveUp(open.record.id)
    this.#lanes.leave(open.call)
    this.#settle(open, outcome)
    if (this.#open.size === 0) for (const listener of this.#whenSettled.splice(0)) listener()
    if (this.#state === 'retired' || this.#state === 'ended') this.#deps.settled(this)
  }

  #settle({ record, call }: OpenCall, outcome: Outcome): void {
    this.#deps.metrics.count(outcome.status)
    this.#deps.inbox.remove(record.body.byteLength)
    call.settle(outcome)
  }
}

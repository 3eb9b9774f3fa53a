import type { Clock } from '../../kernel/clock.ts'
import { type CallRecord, type CallTexts, tickRooms } from '../wire/call-records.ts'
import { hookCode } from '../wire/hooks.ts'
import { batchLimits } from '../wire/limits.ts'
import {
  beginSlice,
  type Control,
  endSlice,
  isAttached,
  isInterrupted,
  setOpenCalls,
} from './control.ts'
import { type Ending, noReply, status, timedOut } from './endings.ts'
import type { Engine } from './engines/engine.ts'
import { invalidArgument } from './errors.ts'
import { answerEnding, callHandler, encodeAnswer, errorEnding, isImmediate } from './handlers.ts'
import { HostMap, HostSet } from './host-map.ts'
import { deadlineOf, type Invocation, newInvocation, runSlice } from './invocation.ts'
import { createLanes, type Lanes } from './lanes.ts'
import { Output } from './output.ts'
import { ownCall } from './own-call.ts'
import { asPromise, settleWith } from './promises.ts'
import type { Registry } from './registry.ts'
import type { StateRoom } from './rooms/state-room.ts'
import type { StateRooms } from './rooms/state-rooms.ts'
import { endRun, hasGroup, runsOf } from './runs.ts'
import type { Timers } from './timers.ts'
import { WaitingSlices } from './waiting-slices.ts'

export type RunnerDeps = {
  clock: Pick<Clock, 'monotonicMs'>
  control: Control
  engine: Pick<Engine, 'guard' | 'scope' | 'describe' | 'forget'>
  registry: Registry
  timers: Timers
  rooms: StateRooms
  deadlineMs: number
  tickDeadlineMs: number
  callTimeoutMs: number
  /** Asks for `endTurn` to be called when this turn of the event loop has ended. */
  wantTurnEnd: () => void
  /** Sends what has been collected; the output grew large. */
  flush: () => void
}

/**
 * Runs the calls one after the other, each up to its first suspension, and ends them when they have
 * settled. Calls start in the order in which they came, except those that must wait for an earlier
 * call of the same participant (see lanes.ts).
 */
export class Runner {
  readonly output = new Output()
  /** Timers hold whatever becomes of the slice that set them. */
  readonly timerOutput = new Output()
  readonly #deps: RunnerDeps
  readonly #lanes: Lanes
  readonly #suspended = new HostSet<Invocation>()
  readonly #abouts = new HostMap<number, CallTexts>()
  /** Invocations with commands of later slices that have not been committed. */
  #pending: Invocation[] = []
  readonly #inRooms: WaitingSlices
  #queue: CallRecord[] = []
  #head = 0
  #current: Invocation | undefined
  #wasInterrupted = false
  #sliceStartMs = 0
  readonly #outside: Invocation

  constructor(deps: RunnerDeps) {
    this.#deps = deps
    this.#lanes = createLanes(
      (call) => this.#add(call),
      (call) => deps.rooms.laneOf(call),
    )
    deps.rooms.isBusy = this.#lanes.isBusy
    this.#inRooms = new WaitingSlices(deps)
    this.#outside = newInvocation(undefined, { startedMs: 0, deadlineMs: deps.deadlineMs })
  }

  /** Takes a call; `run` starts it. */
  enqueue(call: CallRecord): void {
    if (call.about) this.#abouts.set(call.participant, call.about)
    else call.about = this.#abouts.get(call.participant)
    if (call.hook === hookCode.on_leave) this.#abouts.delete(call.participant)
    if (call.hook === hookCode.timer) call.room_id = this.#deps.timers.roomOf(call.detail)
    this.#inRooms.expect(call)
    if (call.hook === hookCode.on_tick) this.#addRuns(call, tickRooms(call))
    else if (call.hook === hookCode.state_save) this.#addRuns(call, this.#deps.rooms.ids())
    else this.#add(call)
  }

  /** Runs a call of the worker's own before those that wait; the node hears nothing of its end. */
  runSoon(hook: number, room_id: number): void {
    const own = { ...ownCall, hook, room_id }
    if (this.#head === 0) this.#queue = [own, ...this.#queue]
    else {
      // The call that runs has its place before the head.
      this.#head -= 1
      this.#queue[this.#head] = own
    }
    this.#deps.wantTurnEnd()
  }

  /** Starts every call that may start now; alone = nothing but the event loop calls. */
  run({ alone = false } = {}): void {
    while (this.#head < this.#queue.length) {
      const next = this.#queue[this.#head]
      if (!next) break
      const deadlineMs = deadlineOf(next, this.#deps)
      const runIn = this.#deps.engine.guard[alone ? 'runAlone' : 'run']
      if (runIn(deadlineMs, () => this.#drain(deadlineMs)) === 'interrupted') this.#afterInterrupt()
      if (this.output.byteCount > batchLimits.bodyBytes) this.#deps.flush()
    }
    this.#queue = []
    this.#head = 0
    // What computes until the end of the turn are the slices after an await.
    beginSlice(this.#deps.control, 0)
    this.#deps.wantTurnEnd()
  }

  /** Whether an interrupt has ended a run that was alone: what follows it has been done. */
  recover(): boolean {
    this.#findInterrupt()
    if (!this.#wasInterrupted) return false
    this.#wasInterrupted = false
    this.run()
    return true
  }

  /** Other work of the turn may come before `recover`. */
  #findInterrupt(): void {
    if (!this.#deps.engine.guard.takeInterrupt()) return
    this.#wasInterrupted = true
    this.#afterInterrupt()
  }

  /** Commits the slices that have ended by suspending, and starts calls that waited for others. */
  endTurn(): void {
    setOpenCalls(this.#deps.control, this.#suspended.size)
    endSlice(this.#deps.control)
    const pending = this.#pending
    this.#pending = []
    for (let n = 0; n < pending.length; n += 1) {
      const invocation = pending[n]
      if (!invocation?.pending || !this.#checkRoom(invocation)) continue
      if (invocation.pending) this.#commitPending(invocation)
    }
    this.#inRooms.endTurn((invocation) => this.#checkRoom(invocation))
    this.timerOutput.moveAll(this.output)
    this.output.commit(undefined, 'settled')
    if (this.#head < this.#queue.length) this.run()
    this.#outside.commands = 0
    this.#outside.bodyBytes = 0
  }

  /**
   * What computes now. A handler that has settled may have left timers behind: they run outside of
   * all handlers, except that what was given up stays so. What is interrupted computes no more.
   */
  get invocation(): Invocation {
    const { control, engine } = this.#deps
    const running = isInterrupted(control) ? undefined : this.#current
    const found = running ?? engine.scope.current()
    if (found === undefined || (found.state === 'settled' && !found.gaveUp)) return this.#outside
    return found
  }

  /** Where the commands of the invocation are collected at this moment. */
  outputOf(invocation: Invocation): Output {
    if (invocation === this.#current) return this.output
    if (!invocation.pending) {
      invocation.pending = new Output()
      this.#pending[this.#pending.length] = invocation
      this.#deps.wantTurnEnd()
    }
    return invocation.pending
  }

  wantTurnEnd(): void {
    this.#deps.wantTurnEnd()
  }

  /**
   * Runs a slice after the first, for an engine that begins them itself. Its commands take effect
   * with it, or are dropped with its error, which ends the invocation.
   */
  resume(resumed: Invocation | undefined, slice: () => void): void {
    if (resumed?.gaveUp) return
    const isOver = !resumed || resumed === this.#outside || resumed.state === 'settled'
    const invocation = isOver ? this.#outside : resumed
    // Each slice outside of the handlers has a deadline of its own.
    if (isOver) invocation.cpuUs = 0
    const { clock, control, engine } = this.#deps
    beginSlice(control, invocation.call?.id ?? 0)
    this.#sliceStartMs = clock.monotonicMs()
    try {
      engine.scope.run(invocation, runSlice, slice, undefined)
      this.#endSlice(invocation)
      if (this.#checkRoom(invocation) && invocation.pending) this.#commitPending(invocation)
    } catch (error) {
      this.#endSlice(invocation)
      this.#failRoom(invocation)
      if (isOver) invocation.pending = undefined
      else this.#endSuspended(invocation, this.#errorEnding(error, invocation.call))
    }
    beginSlice(control, 0)
    this.#deps.wantTurnEnd()
  }

  /** Gives up the invocations that have lasted too long. */
  sweep(): void {
    if (isAttached(this.#deps.control)) return
    const oldestMs = this.#deps.clock.monotonicMs() - this.#deps.callTimeoutMs
    for (const invocation of this.#suspended) {
      if (invocation.startedMs > oldestMs) break
      this.#failRoom(invocation)
      this.#endSuspended(invocation, timedOut)
      this.#deps.engine.forget(invocation)
    }
  }

  #addRuns(call: CallRecord, rooms: readonly (number | null)[]): void {
    const runs = runsOf(call, rooms)
    for (let n = 0; n < runs.length; n += 1) this.#add(runs[n] ?? call)
  }

  #add(call: CallRecord): void {
    this.#queue[this.#queue.length] = call
  }

  /** Runs under the guard: an interrupt may strike between any two calls of functions. */
  #drain(deadlineMs: number): void {
    const { guard } = this.#deps.engine
    this.#sliceStartMs = this.#deps.clock.monotonicMs()
    while (this.#head < this.#queue.length && guard.mayBegin(this.#sliceStartMs)) {
      const call = this.#queue[this.#head]
      if (!call || deadlineOf(call, this.#deps) !== deadlineMs) return
      if (this.output.byteCount > batchLimits.bodyBytes) return
      if (this.#skips(call)) this.#head += 1
      else if (this.#lanes.mustWait(call)) this.#head += 1
      else this.#start(call)
    }
  }

  /** A tick does not wait for a handler of its room: it is left out. */
  #skips(call: CallRecord): boolean {
    if (call.hook !== hookCode.on_tick || call.room_id === null) return false
    if (!this.#lanes.isBusy(call.room_id) || this.#deps.rooms.laneOf(call) === null) return false
    this.output.skipped()
    this.#settle(newInvocation(call, { startedMs: 0, deadlineMs: 0 }), noReply)
    return true
  }

  #start(call: CallRecord): void {
    const startedMs = this.#sliceStartMs
    const invocation = newInvocation(call, { startedMs, deadlineMs: deadlineOf(call, this.#deps) })
    beginSlice(this.#deps.control, call.id)
    this.#current = invocation
    this.#head += 1
    let ending: Ending = noReply
    let room: StateRoom | undefined
    try {
      const result = this.#deps.engine.scope.run(invocation, callHandler, this.#deps, call)
      this.#endSlice(invocation)
      const promise = asPromise(result)
      if (promise && isImmediate(call)) throw invalidArgument('a filter must return at once')
      if (promise) {
        this.#suspend(invocation, promise)
        return
      }
      // An answer that is none fails the slice before it has changed the state of a room.
      ending = answerEnding(invocation, encodeAnswer(call, result), this.output)
      room = this.#deps.rooms.sliceEnded(call, this.output)
    } catch (error) {
      this.#endSlice(invocation)
      this.output.rollback()
      this.#deps.rooms.sliceFailed(call)
      ending = this.#errorEnding(error, call)
    }
    this.#settle(invocation, ending)
    if (room !== undefined) {
      this.#deps.rooms.sliceHolds(room, call, this.output)
      this.output.commit(undefined, 'settled')
    }
    this.#current = undefined
  }

  #endSlice(invocation: Invocation): void {
    const nowMs = this.#deps.clock.monotonicMs()
    invocation.cpuUs += Math.max(0, Math.round((nowMs - this.#sliceStartMs) * 1000))
    this.#sliceStartMs = nowMs
  }

  /** The first slice has ended in an await, or in an error that is yet to be seen. */
  #suspend(invocation: Invocation, result: Promise<unknown>): void {
    const own = new Output()
    this.output.moveTail(own)
    invocation.pending = own.isEmpty ? undefined : own
    if (invocation.pending) this.#pending[this.#pending.length] = invocation
    if (invocation.call) {
      if (this.#deps.rooms.laneOf(invocation.call) !== null) this.#inRooms.add(invocation)
      this.#lanes.occupy(invocation.call)
    }
    this.#suspended.add(invocation)
    settleWith(
      result,
      (value) => this.#fulfilled(invocation, value),
      (error) => this.#rejected(invocation, error),
    )
    this.output.commit(invocation, 'suspended')
    this.#current = undefined
  }

  #fulfilled(invocation: Invocation, value: unknown): void {
    this.#findInterrupt()
    if (invocation.state !== 'suspended') return
    const { call } = invocation
    if (!this.#checkRoom(invocation)) return
    if (invocation.pending) this.#commitPending(invocation)
    let ending: Ending = noReply
    try {
      if (call) ending = answerEnding(invocation, encodeAnswer(call, value), this.output)
    } catch (error) {
      ending = this.#errorEnding(error, call)
    }
    this.#endSuspended(invocation, ending)
  }

  #rejected(invocation: Invocation, error: unknown): void {
    this.#findInterrupt()
    if (invocation.state !== 'suspended') return
    this.#failRoom(invocation)
    this.#endSuspended(invocation, this.#errorEnding(error, invocation.call))
  }

  /** What a slice after the first has made of a room's state; false when that ended the call. */
  #checkRoom(invocation: Invocation): boolean {
    const { call } = invocation
    if (call === undefined || !this.#inRooms.has(invocation)) return true
    this.#inRooms.seen(invocation)
    try {
      const output = invocation.pending ?? this.output
      const room = this.#deps.rooms.sliceEnded(call, output)
      if (room !== undefined) this.#deps.rooms.sliceHolds(room, call, output)
      if (!invocation.pending) this.output.commit(undefined, 'settled')
      return true
    } catch (error) {
      this.#failRoom(invocation)
      this.#endSuspended(invocation, this.#errorEnding(error, call))
      return false
    }
  }

  #failRoom({ call }: Invocation): void {
    if (call !== undefined) this.#deps.rooms.sliceFailed(call)
  }

  #endSuspended(invocation: Invocation, ending: Ending): void {
    invocation.pending = undefined
    this.#suspended.delete(invocation)
    this.#inRooms.remove(invocation)
    this.#settle(invocation, ending)
    if (invocation.call) this.#lanes.release(invocation.call)
    this.#deps.wantTurnEnd()
  }

  #settle(invocation: Invocation, ending: Ending): void {
    const { cpuUs, call } = invocation
    invocation.gaveUp = ending.status === status.timed_out
    if (call && hasGroup(call)) endRun(call, cpuUs, ending, this.output)
    else this.output.done(call?.id ?? 0, ending.status, { ...ending, cpuUs })
    this.output.commit(invocation, 'settled')
  }

  #commitPending(invocation: Invocation): void {
    const { pending } = invocation
    invocation.pending = undefined
    pending?.moveAll(this.output)
    this.output.commit(undefined, 'settled')
  }

  /** The guard went off: what ran is over, and nothing of it takes effect. */
  #afterInterrupt(): void {
    const invocation = this.#current
    this.#current = undefined
    this.output.rollback()
    if (!invocation) return
    if (invocation.state === 'settled') {
      if (invocation.call) this.#deps.rooms.holdInterrupted(invocation.call)
      return
    }
    this.#endSlice(invocation)
    this.#failRoom(invocation)
    this.#endSuspended(invocation, timedOut)
  }

  #errorEnding(error: unknown, call: CallRecord | undefined): Ending {
    return errorEnding(error, call, { engine: this.#deps.engine, output: this.output })
  }
}

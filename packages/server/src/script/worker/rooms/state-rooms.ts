import type { Clock } from '../../../kernel/clock.ts'
import type { CallRecord } from '../../wire/call-records.ts'
import { hookCode } from '../../wire/hooks.ts'
import { op } from '../../wire/output-records.ts'
import type { BindingHost } from '../bindings/binding-host.ts'
import { context, messageContext, rpcContext } from '../contexts.ts'
import { HostMap } from '../host-map.ts'
import type { Output } from '../output.ts'
import type { Registry } from '../registry.ts'
import { Checkpoints } from './checkpoints.ts'
import { memberContext, memberOf, pairOf, payloadOf, withPayload } from './payloads.ts'
import { createFaces } from './room-face.ts'
import type { RoomMember } from './room-followers.ts'
import { StateBudget } from './state-budget.ts'
import { StateCopy, StateProblem } from './state-copy.ts'
import { type StateLabel, StateRoom, type StateRoomIdentity } from './state-room.ts'
import { StateSyncs } from './state-syncs.ts'
import { reportTwice, reportUntracked } from './tested-states.ts'

export type StateRoomsDeps = {
  registry: Registry
  clock: Pick<Clock, 'monotonicMs'>
  /** Runs a call of this worker's own before those that wait. */
  runSoon(hook: number, roomId: number): void
  /** What a view has thrown, as text for the records. */
  describe(error: unknown): string
  /** Of all states together. */
  stateBytesMax(): number
  /** Whether the game runs under test. */
  isTested(): boolean
}

type Attached = {
  host: BindingHost
  relabel(roomId: number, label: unknown): void
  setResult(result: unknown): void
}

/** The rooms of a script that have state: their handlers, and what follows a slice of them. */
export class StateRooms {
  readonly #deps: StateRoomsDeps
  readonly #rooms = new HostMap<number, StateRoom>()
  /** Their states are being made, or made again. */
  readonly #making = new HostMap<number, StateRoom>()
  readonly #budget: StateBudget
  readonly #checkpoints: Checkpoints
  readonly #syncs: StateSyncs
  #attached: (Attached & { faceOf(room: StateRoom): object }) | undefined
  /** Whether a handler of the room waits. */
  isBusy: (roomId: number) => boolean = () => false

  constructor(deps: StateRoomsDeps) {
    this.#deps = deps
    this.#budget = new StateBudget(() => deps.stateBytesMax())
    this.#syncs = new StateSyncs({
      ...deps,
      later: (ms, task) => this.#later(ms, task),
      output: () => this.#output(),
    })
    this.#checkpoints = new Checkpoints({
      clock: deps.clock,
      later: (ms, task) => this.#later(ms, task),
      output: () => this.#output(),
      describe: deps.describe,
      follow: (room, output) => this.#syncs.follow(room, false, output),
    })
  }

  /** The functions of `guildhall` are there. */
  attach(attached: Attached): void {
    this.#attached = { ...attached, faceOf: createFaces(attached) }
  }

  /** The room whose handlers the call takes its turn among; null for a call of none. */
  laneOf(call: CallRecord): number | null {
    if (call.hook === hookCode.state_restore) return call.room_id
    // One whose state is being made has its calls wait.
    const room = this.#roomOf(call) ?? this.#roomOf(call, { rooms: this.#making })
    if (room === undefined) return null
    if (call.hook === hookCode.on_rpc && room.definition.methods[call.text ?? ''] === undefined) {
      return null
    }
    return room.room_id
  }

  /** Whether a tick of the room has nothing to run. */
  isTickless(roomId: number | null): boolean {
    return roomId !== null && this.#rooms.get(roomId)?.definition.tick === undefined
  }

  /** Runs the handler of a definition; undefined for a call that is not for one. */
  handle(call: CallRecord): { value: unknown } | undefined {
    switch (call.hook) {
      case hookCode.state_create:
        return { value: this.#create(call) }
      case hookCode.state_restore:
        return { value: this.#restore(call) }
      case hookCode.state_watch:
        return { value: this.#withRoom(call, (room) => this.#syncs.watch(room, call)) }
      case hookCode.state_sync:
        return { value: this.#withRoom(call, (room) => this.#syncs.run(room)) }
      case hookCode.state_save:
        return { value: this.#withRoom(call, (room) => this.#save(room)) }
      case hookCode.state_drop:
        return { value: this.#forget(call.room_id ?? 0) }
      default: {
        const room = this.#roomOf(call)
        return room === undefined ? undefined : this.#handle(room, call)
      }
    }
  }

  /** All rooms that have state. */
  ids(): number[] {
    return Array.from(this.#rooms.keys())
  }

  /**
   * A slice of a handler has ended well. What it made of the state of the room holds with its
   * commands: `sliceHolds` must follow.
   *
   * @throws StateProblem when it is no state; `sliceFailed` must follow
   */
  sliceEnded(call: CallRecord, output: Output): StateRoom | undefined {
    const room = this.#roomOf(call)
    if (room === undefined || this.#isBeside(room, call)) return undefined
    const hasChanged = room.takeState()
    if (this.#deps.isTested()) {
      room.acceptState()
      reportUntracked(room, output)
      if (hasChanged) reportTwice(room, output)
    }
    return room
  }

  /** The commands of the slice hold: so does the state, and others hear of it. */
  sliceHolds(room: StateRoom, call: CallRecord, output: Output): void {
    this.#hold(room)
    this.#checkpoints.saveBehind(room, output)
    this.#syncs.follow(room, call.hook === hookCode.on_tick, output)
  }

  /** That was interrupted: the slice holds, and others hear of it later. */
  holdInterrupted(call: CallRecord): void {
    const room = this.#roomOf(call)
    if (room === undefined || this.#isBeside(room, call)) return
    this.#hold(room)
    this.#checkpoints.lost(room)
    this.#syncs.lost(room)
  }

  #hold(room: StateRoom): void {
    room.acceptState()
    room.behindSync.commit(undefined, 'settled')
  }

  /** The state is as it was before the slice. */
  sliceFailed(call: CallRecord): void {
    if (call.hook === hookCode.state_create || call.hook === hookCode.state_restore) {
      this.#forget(call.room_id ?? 0)
      return
    }
    const room = this.#roomOf(call, { withOwn: true })
    if (room === undefined) return
    if (call.hook === hookCode.state_sync) this.#syncs.lost(room)
    else if (call.hook === hookCode.state_watch) this.#syncs.watchFailed(room, call)
    else if (call.hook === hookCode.state_save) room.isUnsaved = true
    else if (call.hook === hookCode.on_match_ended) this.#forget(room.room_id)
    else if (!this.#isBeside(room, call)) {
      room.setState(room.copy.fresh())
      room.behindSync.rollback()
    }
  }

  /** The call is for no handler of the room, and one that waits has yet to say what it has made. */
  #isBeside(room: StateRoom, call: CallRecord): boolean {
    return this.isBusy(room.room_id) && this.laneOf(call) === null
  }

  byId(roomId: number): StateRoom | undefined {
    return this.#rooms.get(roomId) ?? this.#making.get(roomId)
  }

  relabel(roomId: number, label: unknown): void {
    const room = this.#rooms.get(roomId)
    if (room === undefined || typeof label !== 'object' || label === null) return
    const given = Object.entries(label).filter(([, member]) => member !== undefined)
    const { name: mode } = room.definition
    room.label = Object.freeze({ ...room.label, ...Object.fromEntries(given), mode })
  }

  #withRoom(call: CallRecord, work: (room: StateRoom) => void): void {
    const room = this.#rooms.get(call.room_id ?? 0)
    if (room !== undefined) work(room)
  }

  #roomOf(call: CallRecord, { withOwn = false, rooms = this.#rooms } = {}): StateRoom | undefined {
    if (rooms.size === 0) return undefined
    switch (call.hook) {
      case hookCode.on_room_join:
        return rooms.get(call.detail)
      case hookCode.state_sync:
      case hookCode.state_watch:
      case hookCode.state_save:
        return withOwn ? rooms.get(call.room_id ?? 0) : undefined
      case hookCode.on_join:
      case hookCode.on_leave:
      case hookCode.on_room_create:
      case hookCode.state_drop:
        return undefined
      default:
        return call.room_id === null ? undefined : rooms.get(call.room_id)
    }
  }

  #handle(room: StateRoom, call: CallRecord): { value: unknown } | undefined {
    const { definition, face } = room
    switch (call.hook) {
      case hookCode.on_message:
        return { value: definition.kinds[call.detail]?.(messageContext(call), call.body, face) }
      case hookCode.on_rpc: {
        const method = definition.methods[call.text ?? '']
        return method && { value: method(rpcContext(call), call.body, face) }
      }
      case hookCode.on_tick:
        room.ticksSinceSync += 1
        return { value: definition.tick?.(call.detail, face) }
      case hookCode.on_drop:
        return { value: definition.drop?.(withPayload(call), face) }
      case hookCode.on_return:
        return { value: definition.return?.(withPayload(call), face) }
      case hookCode.on_room_join: {
        const { options } = payloadOf(call)
        const { admit } = definition
        return { value: admit === undefined || admit({ ...context(call), options }, face) }
      }
      case hookCode.on_match_join:
        room.enter(memberOf(payloadOf(call)))
        return { value: definition.join?.(memberContext(call), face) }
      case hookCode.on_match_leave:
        room.leave(Number(payloadOf(call).participant))
        return { value: definition.leave?.(memberContext(call), face) }
      case hookCode.on_match_ended:
        return { value: this.#end(room, call) }
      default:
        return undefined
    }
  }

  #create(call: CallRecord): unknown {
    const { options, ...identity } = payloadOf(call) as StateRoomIdentity & { options: unknown }
    const { room_id, match_id, name } = identity
    const room = this.#newRoom(identity, 0)
    const { definition } = room
    const made = definition.create({ ...context(call), room_id, match_id, name, options }, options)
    return then(made, (result) => {
      const { state, label } = pairOf(result)
      this.#begin(room, state, { ...identity.label, ...label })
      return label === undefined ? {} : { label }
    })
  }

  #restore(call: CallRecord): unknown {
    const { state, seq, members, ...identity } = payloadOf(call) as StateRoomIdentity & {
      state: unknown
      seq: number
      members: RoomMember[]
    }
    const room = this.#newRoom(identity, seq)
    room.setState(state)
    for (const member of members) room.enter(Object.freeze(member))
    const { definition, face } = room
    const made = definition.restore === undefined ? state : definition.restore(state, face)
    return then(made, (result) => {
      this.#begin(room, result, identity.label)
      return {}
    })
  }

  #newRoom(identity: StateRoomIdentity, seq: number): StateRoom {
    const definition = this.#deps.registry.rooms[identity.definition]
    if (definition === undefined) throw new StateProblem('there is no such definition')
    const room = new StateRoom(definition, identity, { seq, budget: this.#budget })
    room.face = this.#attached?.faceOf(room) ?? {}
    this.#making.set(room.room_id, room)
    return room
  }

  #forget(roomId: number): void {
    const room = this.byId(roomId)
    if (room === undefined) return
    room.hasEnded = true
    this.#cancelTimers(room)
    this.#budget.remove(room.copy)
    room.definition.guest?.forget(roomId)
    this.#rooms.delete(roomId)
    this.#making.delete(roomId)
  }

  /** The node has room for those of the rooms that are there. */
  #cancelTimers({ timers }: StateRoom): void {
    const host = this.#attached?.host
    if (host === undefined || timers.size === 0) return
    host.runner.wantTurnEnd()
    for (const timer of timers) {
      host.timers.cancel(timer)
      host.runner.timerOutput.timer(op.cancel, timer, 0)
    }
  }

  /** The room is there from here on, and its state is what the node keeps first. */
  #begin(room: StateRoom, state: unknown, label: StateLabel): void {
    // The node has given up one that took too long.
    if (this.#making.get(room.room_id) !== room) return
    // On its way back into an engine that has copies, NaN would be null. What is nothing is
    // null there, or is refused when it is read.
    if (room.definition.guest !== undefined) new StateCopy().update(state ?? null)
    room.setState(state)
    room.takeState()
    room.acceptState()
    this.#rooms.set(room.room_id, room)
    this.#making.delete(room.room_id)
    this.relabel(room.room_id, label)
    room.isUnsaved = true
    const output = this.#output()
    if (output !== undefined) this.#checkpoints.save(room, output)
  }

  #save(room: StateRoom): void {
    const output = this.#output()
    if (output === undefined) return
    // What was written for a handler that waits is nobody else's to find.
    if (this.isBusy(room.room_id)) this.#checkpoints.takeWritten(room, output)
    this.#checkpoints.saveNow(room, output)
  }

  #later(ms: number, task: () => void): void {
    const host = this.#attached?.host
    if (host === undefined) return
    host.runner.wantTurnEnd()
    host.runner.timerOutput.timer(op.after, host.timers.addOwn(task), ms)
  }

  #output(): Output | undefined {
    const runner = this.#attached?.host.runner
    return runner?.outputOf(runner.invocation)
  }

  /** Its result counts, and what the script does at the end of every match comes behind it. */
  #end(room: StateRoom, call: CallRecord): unknown {
    const { registry } = this.#deps
    const { definition, face } = room
    const result = definition.ended?.(face)
    const ended = then(result, (value) => {
      if (value !== undefined && value !== null) this.#attached?.setResult(value)
      return registry.hooks.on_match_ended?.(withPayload(call))
    })
    this.#forget(room.room_id)
    return ended
  }
}

/** `next` with what a handler returned, when it has. */
function then(made: unknown, next: (value: unknown) => unknown): unknown {
  return made instanceof Promise ? made.then(next) : next(made)
}

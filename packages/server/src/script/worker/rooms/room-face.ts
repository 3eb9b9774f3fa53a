import { limits } from '../../wire/limits.ts'
import { op } from '../../wire/output-records.ts'
import { type BindingHost, callerOf } from '../bindings/binding-host.ts'
import { createMessagingBindings } from '../bindings/messaging.ts'
import { isTask } from '../bindings/timers.ts'
import { GuildhallError, invalidArgument } from '../errors.ts'
import type { StateLabel, StateRoom } from './state-room.ts'

type FaceDeps = {
  host: BindingHost
  /** `guildhall.room_update`. */
  relabel(roomId: number, label: unknown): void
}

type SendOptions = { unreliable?: unknown; except?: unknown; after_state?: unknown }

/** Makes what handlers of a room get as `room`. */
export function createFaces({ host, relabel }: FaceDeps) {
  const now = createMessagingBindings(host)

  /** The same functions, for what goes out behind the next sync. */
  function behind(room: StateRoom) {
    const runner = { ...host.runner, outputOf: () => room.behindSync }
    Object.defineProperty(runner, 'invocation', { get: () => host.runner.invocation })
    return createMessagingBindings({ ...host, runner })
  }

  function after(room: StateRoom, ms: unknown, fn: unknown): number {
    callerOf(host)
    if (typeof ms !== 'number' || !Number.isInteger(ms) || ms < 1 || ms > limits.timerDelayMs) {
      throw invalidArgument(`room.after: ms must be an integer of 1 to ${limits.timerDelayMs}`)
    }
    if (!isTask(fn)) throw invalidArgument('room.after: fn is not a function')
    const { timersOfRoom } = limits
    if (room.timers.size >= timersOfRoom) {
      throw new GuildhallError('limit_exceeded', `room.after: more than ${timersOfRoom} timers`)
    }
    const timer = host.timers.addOfRoom(room, fn)
    host.runner.wantTurnEnd()
    host.runner.timerOutput.timer(op.after, timer, ms)
    return timer
  }

  return (room: StateRoom): object => {
    const later = behind(room)
    const face = {
      room_id: room.room_id,
      match_id: room.match_id,
      name: room.name,
      broadcast(kind: unknown, body: unknown, options: unknown = {}) {
        const { unreliable, except, after_state } = optionsOf('broadcast', options)
        const { broadcast } = after_state === true ? later : now
        const receivers = { room_id: room.room_id, ...(except !== undefined && { except }) }
        broadcast(kind, body, unreliable ?? false, receivers)
      },
      send(participant: unknown, kind: unknown, body: unknown, options: unknown = {}) {
        const { unreliable, except, after_state } = optionsOf('send', options)
        if (except !== undefined) throw invalidArgument('room.send: there is no option except')
        const { send } = after_state === true ? later : now
        send(participant, kind, body, unreliable ?? false)
      },
      after: (ms: unknown, fn: unknown) => after(room, ms, fn),
    }
    Object.defineProperties(face, {
      state: {
        enumerable: true,
        get: () => room.handledState,
        set(state: unknown) {
          room.handledState = state
        },
      },
      label: {
        enumerable: true,
        get: (): StateLabel => room.label,
        set: (label: unknown) => relabel(room.room_id, label),
      },
      members: { enumerable: true, get: () => room.members },
    })
    return Object.freeze(face)
  }
}

function optionsOf(name: string, options: unknown): SendOptions {
  if (typeof options !== 'object' || options === null) {
    throw invalidArgument(`room.${name}: options must be an object`)
  }
  const { unreliable, except, after_state, ...others } = options as SendOptions
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined) throw invalidArgument(`room.${name}: there is no option ${unknown}`)
  if (after_state !== undefined && typeof after_state !== 'boolean') {
    throw invalidArgument(`room.${name}: after_state must be a boolean`)
  }
  return { unreliable, except, after_state }
}

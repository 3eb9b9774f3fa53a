import { topicName } from '@guildhall/contract'
import { limits, safeIdMax } from '../../wire/limits.ts'
import { kindOf } from '../arguments.ts'
import { GuildhallError, invalidArgument } from '../errors.ts'
import type { Invocation } from '../invocation.ts'
import type { Body } from '../output.ts'
import { type BindingHost, callerOf, countBody, countCommand, placeBody } from './binding-host.ts'

/** `send` and `broadcast`: commands that take effect when their slice ends. */
export function createMessagingBindings(host: BindingHost) {
  const { registry, runner } = host

  function checkKind(name: string, kind: unknown): asserts kind is number {
    if (typeof kind === 'number' && Number.isInteger(kind)) {
      if (kind >= 100 && kind <= 65_535) return
      if (kind === 2 && registry.kinds[1]) return
    }
    throw invalidArgument(`${name}: kind must be 100 to 65535, or 2 with a handler for kind 1`)
  }

  function send(session: unknown, kind: unknown, body: unknown, unreliable: unknown = false) {
    const invocation = callerOf(host)
    if (!isId(session)) throw invalidArgument('send: session must be a participant id')
    checkKind('send', kind)
    checkBody('send', body)
    if (typeof unreliable !== 'boolean') throw invalidArgument('send: unreliable must be a boolean')
    countCommand(invocation)
    const output = runner.outputOf(invocation)
    const length = output.joinable(kind, body, unreliable)
    if (length < 0) {
      const placed = placeBody(invocation, output, body)
      output.send(kind, unreliable, session, { body, length: placed })
      return
    }
    countBody(invocation, length)
    output.join(session)
  }

  function broadcast(kind: unknown, body: unknown, unreliable: unknown = false, options?: unknown) {
    const invocation = callerOf(host)
    checkKind('broadcast', kind)
    checkBody('broadcast', body)
    if (typeof unreliable !== 'boolean') {
      throw invalidArgument('broadcast: unreliable must be a boolean')
    }
    const { room_id, topic, except } = checkedReceivers(invocation, options)
    countCommand(invocation)
    const output = runner.outputOf(invocation)
    const length = placeBody(invocation, output, body)
    const sender = invocation.call?.participant ?? 0
    output.broadcast({ kind, unreliable, sender, room_id, topic, except }, length)
  }

  return { send, broadcast }
}

type Receivers = {
  room_id: number | null
  topic?: string
  except: readonly number[]
}

const none: readonly number[] = []

/** What throws when it is read is no object of options either. */
function checkedReceivers(invocation: Invocation, options: unknown): Receivers {
  try {
    return receivers(invocation, options)
  } catch (error) {
    throw error instanceof GuildhallError ? error : notOptions()
  }
}

/** Who receives a broadcast: the room of the caller, if it has one, unless the options say else. */
function receivers(invocation: Invocation, options: unknown): Receivers {
  const ownRoom = invocation.call?.room_id ?? null
  if (options === undefined) return { room_id: ownRoom, except: none }
  if (typeof options !== 'object' || options === null) throw notOptions()
  const { scope, room_id, topic, except, ...others } = membersOf(options)
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined) throw invalidArgument(`broadcast: there is no option ${unknown}`)
  if (topic === undefined) {
    return { room_id: roomOf(ownRoom, scope, room_id), except: exceptOf(except) }
  }
  if (scope !== undefined || room_id !== undefined) {
    throw invalidArgument('broadcast: topic excludes scope and room_id')
  }
  return { room_id: null, topic: topicOf(topic), except: exceptOf(except) }
}

function membersOf(options: object): { [name: string]: unknown } {
  if (kindOf(options) !== '[object Object]') throw notOptions()
  return { ...options }
}

function notOptions(): Error {
  return invalidArgument('broadcast: options must be an object')
}

function roomOf(ownRoom: number | null, scope: unknown, room: unknown): number | null {
  if (scope !== undefined && scope !== 'room' && scope !== 'all') {
    throw invalidArgument("broadcast: scope must be 'room' or 'all'")
  }
  if (room !== undefined) {
    if (scope !== undefined) throw invalidArgument('broadcast: scope excludes room_id')
    if (!isId(room)) throw invalidArgument('broadcast: room_id must be a room id')
    return room
  }
  if (scope === 'room' && ownRoom === null) {
    throw invalidArgument("broadcast: scope 'room' needs a room, and the call has none")
  }
  return scope === 'all' ? null : ownRoom
}

function topicOf(topic: unknown): string {
  if (topicName.safeParse(topic).success && typeof topic === 'string') return topic
  throw invalidArgument('broadcast: topic must be 1..128 bytes without control characters')
}

function exceptOf(except: unknown): readonly number[] {
  if (except === undefined) return none
  if (
    !Array.isArray(except) ||
    except.length > limits.exceptedParticipants ||
    !except.every(isId)
  ) {
    throw invalidArgument('broadcast: except must be an array of at most 1024 participant ids')
  }
  return except
}

function checkBody(name: string, body: unknown): asserts body is Body {
  if (typeof body === 'string' || body instanceof Uint8Array) return
  throw invalidArgument(`${name}: body must be a Uint8Array or a string`)
}

function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= safeIdMax
}

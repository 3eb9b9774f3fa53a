import { scriptHooks } from '@guildhall/contract'
import { type HandlerPlan, jsonPlan, planHandler, taskPlan } from '../conversions/plans.ts'
import { invalidArgument } from '../errors.ts'
import type { Registry } from '../registry.ts'
import type { GuestStates } from './definition.ts'
import type { RoomMember } from './room-followers.ts'
import type { StateRoom } from './state-room.ts'

type Fn = (...args: unknown[]) => unknown
type Face = {
  readonly room_id: number
  broadcast(kind: unknown, body: unknown, options: unknown): void
  send(participant: unknown, kind: unknown, body: unknown, options: unknown): void
  after(ms: unknown, fn: unknown): number
}

/**
 * What the prelude of a language builds `guildhall.room` of, where values cross as copies: there
 * the state of a room stays inside, and comes out when a slice has ended. Handlers are given one by
 * one and called with three arguments: what it is about, a body or value, and the id of the room.
 */
export type GuestRoomFunction = {
  readonly name: string
  readonly fn: Fn
  /** Which argument is bytes where a language has one type for both; -1 for none. */
  readonly bytesAt: number
  /** How a function that it takes is called. */
  readonly handler: HandlerPlan
}

type GuestRoomsDeps = {
  registry: Pick<Registry, 'addRoom'>
  roomOf(roomId: number): StateRoom | undefined
  relabel(roomId: number, label: unknown): void
}

export function createGuestRooms(deps: GuestRoomsDeps): readonly GuestRoomFunction[] {
  const { answering, replying } = planHandlers()
  let given: { name: unknown; handlers: Map<string, Fn> } | undefined

  function faceOf(roomId: unknown): Face {
    const room = deps.roomOf(Number(roomId))
    if (room === undefined) throw invalidArgument('the room has ended')
    return room.face as Face
  }

  function take(path: unknown, fn: unknown): void {
    if (typeof fn !== 'function') throw invalidArgument(`room: ${String(path)} is not a function`)
    given?.handlers.set(String(path), fn as Fn)
  }

  function done(members: unknown): void {
    const { name, handlers } = given ?? { name: undefined, handlers: new Map<string, Fn>() }
    given = undefined
    const plain = typeof members === 'object' && !Array.isArray(members) ? members : undefined
    deps.registry.addRoom(name, { ...plain, ...adapted(handlers) }, statesOf(handlers))
  }

  const function_ = (name: string, fn: Fn, bytesAt = -1, handler = taskPlan): GuestRoomFunction => {
    return { name, fn, bytesAt, handler }
  }
  return [
    function_('define', (name) => {
      given = { name, handlers: new Map() }
    }),
    function_('handler', take, -1, answering),
    function_('reply', take, -1, replying),
    function_('done', done),
    function_('info', (id) => infoOf(deps.roomOf(Number(id)))),
    function_('relabel', (id, label) => deps.relabel(Number(id), label)),
    function_(
      'broadcast',
      (id, kind, body, options) => faceOf(id).broadcast(kind, body, options ?? {}),
      2,
    ),
    function_(
      'send',
      (id, to, kind, body, options) => faceOf(id).send(to, kind, body, options ?? {}),
      3,
    ),
    function_('after', (id, ms, fn) => faceOf(id).after(ms, fn)),
  ]
}

function planHandlers(): { answering: HandlerPlan; replying: HandlerPlan } {
  const { ctx } = scriptHooks.on_message.args
  const { args } = planHandler({ args: { ctx } })
  const answering: HandlerPlan = { args: [...args, jsonPlan, jsonPlan], answer: jsonPlan }
  return { answering, replying: { ...answering, answer: { ...jsonPlan, strings: 'bytes' } } }
}

function infoOf(room: StateRoom | undefined): object | null {
  if (room === undefined) return null
  const { match_id, name, label, members } = room
  return { match_id, name, label, members }
}

/** The handlers as those of a script that shares its values with the worker. */
function adapted(handlers: ReadonlyMap<string, Fn>): { [member: string]: unknown } {
  const definition: { [member: string]: unknown } = {}
  const families: { [name: string]: { [key: string]: Fn } } = { message: {}, rpc: {} }
  for (const [path, fn] of handlers) {
    if (path.startsWith('@')) continue
    const [name = '', ...rest] = path.split('.')
    const family = families[name]
    if (rest.length > 0 && family !== undefined) {
      family[rest.join('.')] = (ctx, body, face) => fn(ctx, body, idOf(face))
    } else definition[name] = adaptedHandler(name, fn)
  }
  return { ...definition, ...families }
}

function adaptedHandler(name: string, fn: Fn): Fn {
  switch (name) {
    case 'create':
      return (ctx, options) => fn(ctx, options, null)
    case 'restore':
      return (state, face) => fn(null, state, idOf(face))
    case 'ended':
      return (face) => fn(null, null, idOf(face))
    default:
      return (ctx, face) => fn(ctx, null, idOf(face))
  }
}

function idOf(face: unknown): number {
  return (face as Face).room_id
}

function statesOf(handlers: ReadonlyMap<string, Fn>): GuestStates {
  const call = (path: string, ...args: readonly unknown[]) => handlers.get(path)?.(...args)
  return {
    read: (roomId) => call('@read', null, null, roomId) ?? null,
    write: (roomId, state) => void call('@write', null, state, roomId),
    forget: (roomId) => void call('@forget', null, null, roomId),
    view: (roomId) => call('view', null, null, roomId),
    own: (roomId, member: RoomMember) => call('own', member, null, roomId),
  }
}

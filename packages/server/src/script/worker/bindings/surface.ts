import {
  type ScriptFunction,
  type ScriptHook,
  type ScriptNames,
  type ScriptTier,
  scriptApi,
  scriptHooks,
} from '@guildhall/contract'
import { isHookName } from '../../wire/hooks.ts'
import { GuildhallError } from '../errors.ts'
import type { StoppableCall } from '../host-calls.ts'
import { createGuestRooms, type GuestRoomFunction } from '../rooms/guest-rooms.ts'
import type { StateRooms } from '../rooms/state-rooms.ts'
import { createAllowBinding } from './allowing.ts'
import type { BindingHost } from './binding-host.ts'
import { createCommandBinding } from './commands.ts'
import { createEncodingBindings } from './encoding.ts'
import { createFailingBindings } from './failing.ts'
import { registration } from './hooks.ts'
import { createHostCallBinding } from './host-calls.ts'
import { jsonBindings } from './json.ts'
import { type CommandAnswer, createLineAnswers } from './lines.ts'
import { createMessagingBindings } from './messaging.ts'
import { createTimerBindings } from './timers.ts'
import { createTracingBindings } from './tracing.ts'

/** What the script reads about itself and its node. */
export type Identity = {
  readonly node_id: string
  readonly tier: ScriptTier
  readonly generation: number
  /** Known once the script has loaded. */
  readonly revision_id: () => string
}

type Fn = (...args: unknown[]) => unknown

/**
 * What scripts of every language know as `guildhall`, as rows: each engine builds from them what
 * its language calls an object. A row that is only planned raises `unavailable`.
 */
export type Surface = {
  readonly identity: Identity
  /** They register handlers. */
  readonly hooks: readonly { readonly name: string; readonly fn: Fn; readonly row: ScriptHook }[]
  /** `guildhall.room`, which defines rooms with state. */
  readonly room: Fn
  /** What `guildhall.room` is built of where values cross as copies; each call makes it anew. */
  readonly guestRooms: () => readonly GuestRoomFunction[]
  /** By their full name, such as `wallet.adjust`. */
  readonly functions: readonly SurfaceFunction[]
  /** Calls to the node, for a language whose scripts cancel them. */
  readonly stoppable: StoppableCall
}

export type SurfaceFunction = {
  readonly name: string
  readonly fn: Fn
  readonly row: ScriptFunction
}

export function createSurface(
  host: BindingHost & { rooms: StateRooms },
  identity: Identity,
): Surface {
  const own = ownFunctions(host)
  const answers: CommandAnswers = createLineAnswers({ ...host, generation: identity.generation })
  const making = { host, own, answers, tier: identity.tier }
  const hooks = Object.keys(scriptHooks).filter(isHookName)
  const functions = Object.entries<ScriptFunction>(scriptApi).map(([name, row]) => {
    const fn = bindingOf(name, row, making)
    return { name, fn: name === 'room_update' ? relabelling(fn, host.rooms) : fn, row }
  })
  host.rooms.attach({
    host,
    relabel: (roomId, label) => functionOf(functions, 'room_update')(roomId, label),
    setResult: (result) => functionOf(functions, 'match.set_result')(result),
  })
  return {
    identity,
    hooks: hooks.map((name) => {
      const row: ScriptHook = scriptHooks[name]
      const fn = row.planned ? unavailable(name) : registration(host.registry, name, row.slot)
      return { name, fn, row }
    }),
    room: (name, definition) => host.registry.addRoom(name, definition),
    guestRooms: () =>
      createGuestRooms({
        registry: host.registry,
        roomOf: (roomId) => host.rooms.byId(roomId),
        relabel: (roomId, label) => functionOf(functions, 'room_update')(roomId, label),
      }),
    functions,
    stoppable: host.stoppable,
  }
}

function functionOf(functions: readonly SurfaceFunction[], name: string): Fn {
  return functions.find((each) => each.name === name)?.fn ?? (() => undefined)
}

/** What a script says of a room with state, its handlers read at once. */
function relabelling(fn: Fn, rooms: StateRooms): Fn {
  return (...args) => {
    fn(...args)
    rooms.relabel(Number(args[0]), args[1])
  }
}

type OwnFunctions = { readonly [name in ScriptNames<typeof scriptApi, 'worker'>]: Fn }

/** What is done beside the script; a row of the table without its function does not compile. */
function ownFunctions(host: BindingHost): OwnFunctions {
  return {
    ...createMessagingBindings(host),
    ...createTimerBindings(host),
    ...createAllowBinding(host.clock),
    ...jsonBindings,
    ...createEncodingBindings(),
    ...createFailingBindings(host),
    ...createTracingBindings(host),
  }
}

/** What commands with an answer return; a row of the table without its answer does not compile. */
type CommandAnswers = {
  readonly [name in AnsweringCommands]: CommandAnswer
}
type AnsweringCommands = {
  [name in ScriptNames<typeof scriptApi, 'command'>]: (typeof scriptApi)[name] extends {
    ok: object
  }
    ? name
    : never
}[ScriptNames<typeof scriptApi, 'command'>]

type Making = {
  host: BindingHost
  own: Readonly<Record<string, Fn>>
  answers: Readonly<Record<string, CommandAnswer>>
  tier: ScriptTier
}

function bindingOf(name: string, row: ScriptFunction, { host, own, answers, tier }: Making): Fn {
  if (row.planned) return unavailable(name)
  if (row.tier === 'trusted' && tier !== 'trusted') return forbidden(name, row)
  switch (row.runs) {
    case 'node':
      return createHostCallBinding(host, name, row)
    case 'command':
      return createCommandBinding(host, name, { row, answer: answers[name] })
    case 'worker':
      return own[name] ?? forbidden(name, row)
  }
}

function forbidden(name: string, { runs }: ScriptFunction): Fn {
  const error = () => new GuildhallError('forbidden', `${name} is not for sandboxed scripts`)
  if (runs === 'node') return () => Promise.reject(error())
  return () => {
    throw error()
  }
}

function unavailable(name: string): Fn {
  return () => {
    throw new GuildhallError('unavailable', `guildhall.${name} is not part of this version`)
  }
}

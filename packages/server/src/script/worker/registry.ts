import { type HookName, parseCron } from '@guildhall/contract'
import { type Handlers, isHookName } from '../wire/hooks.ts'
import { limits } from '../wire/limits.ts'
import { invalidArgument } from './errors.ts'
import {
  type GuestStates,
  type RoomDefinition,
  readDefinition,
  summaryOf,
} from './rooms/definition.ts'

/** A handler as it was registered; what it takes and returns is the hook's business. */
export type Handler = (...args: unknown[]) => unknown

/** The handlers of a script. They are registered while its top level runs, and only then. */
export type Registry = {
  readonly kinds: { readonly [kind: number]: Handler }
  readonly methods: { readonly [method: string]: Handler }
  readonly hooks: { readonly [name in HookName]?: Handler }
  readonly filters: { readonly [index: string]: Handler }
  readonly schedules: { readonly [name: string]: { readonly cron: string; readonly run: Handler } }
  readonly rooms: { readonly [definition: string]: RoomDefinition }
  addKind(kind: unknown, handler: unknown): void
  addMethod(method: unknown, handler: unknown): void
  addHook(name: HookName, handler: unknown): void
  addFilter(index: unknown, handler: unknown): void
  /** What runs at the times of a cron expression. */
  addSchedule(name: unknown, cron: unknown, handler: unknown): void
  /** A definition of rooms with state. */
  addRoom(name: unknown, definition: unknown, guest?: GuestStates): void
  /** Ends registration. */
  close(): void
  /** What was registered, sorted; undefined if nothing was. */
  summary(): Handlers | undefined
}

export function createRegistry(): Registry {
  const kinds: { [kind: number]: Handler } = Object.create(null)
  const methods: { [method: string]: Handler } = Object.create(null)
  const hooks: { [name in HookName]?: Handler } = Object.create(null)
  const filters: { [index: string]: Handler } = Object.create(null)
  const schedules: { [name: string]: { cron: string; run: Handler } } = Object.create(null)
  const rooms: { [definition: string]: RoomDefinition } = Object.create(null)
  const counts = { kinds: 0, methods: 0, schedules: 0, rooms: 0 }
  let open = true

  function checked(name: string, handler: unknown): Handler {
    if (!open) {
      throw invalidArgument(`${name}: handlers are registered while the script starts, not later`)
    }
    if (!isHandler(handler)) throw invalidArgument(`${name}: the handler is not a function`)
    return handler
  }

  return {
    kinds,
    methods,
    hooks,
    filters,
    schedules,
    rooms,
    addKind(kind, handler) {
      const fn = checked('on_message', handler)
      if (!isInboundKind(kind)) throw invalidArgument('on_message: kind must be 1 or 100 to 65535')
      if (kinds[kind]) throw invalidArgument(`on_message: kind ${kind} has a handler already`)
      if (counts.kinds >= limits.messageKinds) {
        throw invalidArgument(`on_message: more than ${limits.messageKinds} kinds`)
      }
      kinds[kind] = fn
      counts.kinds += 1
    },
    addMethod(method, handler) {
      const fn = checked('on_rpc', handler)
      if (!isMethodName(method)) {
        throw invalidArgument(
          'on_rpc: method must be 1 to 128 bytes and not start with matchmaker., party. or rooms.',
        )
      }
      if (methods[method]) throw invalidArgument(`on_rpc: ${method} has a handler already`)
      if (counts.methods >= limits.rpcMethods) {
        throw invalidArgument(`on_rpc: more than ${limits.rpcMethods} methods`)
      }
      methods[method] = fn
      counts.methods += 1
    },
    addHook(name, handler) {
      const fn = checked(name, handler)
      if (hooks[name]) throw invalidArgument(`${name} has a handler already`)
      hooks[name] = fn
    },
    addFilter(index, handler) {
      const name = 'register_storage_index_filter'
      const fn = checked(name, handler)
      if (typeof index !== 'string') throw invalidArgument(`${name}: index must be a string`)
      if (filters[index]) throw invalidArgument(`${name}: ${index} has a filter already`)
      filters[index] = fn
      hooks[name] ??= fn
    },
    addSchedule(name, cron, handler) {
      const fn = checked('schedule', handler)
      if (!isScheduleName(name)) {
        throw invalidArgument('schedule: name must be 1 to 64 characters of a-z, 0-9, _, . and -')
      }
      if (!isCron(cron)) {
        throw invalidArgument(
          `schedule: ${name} has no cron expression of five fields that comes within 5 years`,
        )
      }
      if (schedules[name]) throw invalidArgument(`schedule: ${name} is there already`)
      if (counts.schedules >= limits.schedules) {
        throw invalidArgument(`schedule: more than ${limits.schedules} names`)
      }
      schedules[name] = { cron, run: fn }
      hooks.schedule ??= fn
      counts.schedules += 1
    },
    addRoom(name, given, guest) {
      const definition = readDefinition(name, given, guest)
      if (!open) throw invalidArgument('room: definitions are made while the script starts')
      if (rooms[definition.name]) throw invalidArgument(`room ${definition.name} is there already`)
      if (counts.rooms >= limits.roomDefinitions) {
        throw invalidArgument(`room: more than ${limits.roomDefinitions} definitions`)
      }
      rooms[definition.name] = definition
      counts.rooms += 1
    },
    close() {
      open = false
    },
    summary() {
      const rpcs = Object.keys(methods).sort(byBytes)
      const message_kinds = Object.keys(kinds).map(Number)
      const hookNames = Object.keys(hooks).sort(byBytes).filter(isHookName)
      const definitions = Object.values(rooms)
      const registered = rpcs.length + message_kinds.length + hookNames.length
      if (registered + definitions.length === 0) return undefined
      message_kinds.sort((a, b) => a - b)
      return {
        rpcs,
        message_kinds,
        hooks: hookNames,
        filters: Object.keys(filters).sort(byBytes),
        schedules: Object.entries(schedules).map(([name, { cron }]) => ({ name, cron })),
        rooms: definitions.map(summaryOf),
      }
    },
  }
}

const builtInFamilies = ['matchmaker.', 'party.', 'rooms.'] as const
/** What the console calls without a script. */
const consoleMethods: readonly string[] = ['lag.start', 'lag.flush', 'lag.status']

function isHandler(value: unknown): value is Handler {
  return typeof value === 'function'
}

function isInboundKind(kind: unknown): kind is number {
  if (typeof kind !== 'number' || !Number.isInteger(kind)) return false
  return kind === 1 || (kind >= 100 && kind <= 65_535)
}

function isMethodName(method: unknown): method is string {
  if (typeof method !== 'string' || method.length === 0) return false
  if (builtInFamilies.some((family) => method.startsWith(family))) return false
  if (consoleMethods.includes(method)) return false
  return Buffer.byteLength(method) <= limits.rpcMethodBytes
}

function isScheduleName(name: unknown): name is string {
  return typeof name === 'string' && /^[a-z0-9_.-]{1,64}$/.test(name)
}

/** Boards take expressions that never come, and ignore them; a script hears of it. */
function isCron(cron: unknown): cron is string {
  return typeof cron === 'string' && parseCron(cron)?.next(0) !== undefined
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

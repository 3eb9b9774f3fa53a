import type { StateDecimals } from '@guildhall/contract/state'
import type { RoomDefinitionSummary } from '../../wire/hooks.ts'
import { limits } from '../../wire/limits.ts'
import { invalidArgument } from '../errors.ts'

type Fn = (...args: unknown[]) => unknown

/** The states of a script whose values cross as copies: they stay inside of its engine. */
export type GuestStates = {
  read(roomId: number): unknown
  write(roomId: number, state: unknown): void
  forget(roomId: number): void
  view(roomId: number): unknown
  own(roomId: number, member: object): unknown
}

/** What `guildhall.room(name, definition)` was given, checked. */
export type RoomDefinition = {
  readonly name: string
  readonly tickHz: number
  readonly syncHz: number
  readonly decimals: StateDecimals | undefined
  readonly create: Fn
  readonly kinds: { readonly [kind: number]: Fn }
  readonly methods: { readonly [method: string]: Fn }
  /** The state notes writes; only where handlers share their values with the worker. */
  readonly isTracked: boolean
  readonly guest: GuestStates | undefined
} & { readonly [handler in Handler]: Fn | undefined }

const handlers = [
  'create',
  'restore',
  'admit',
  'join',
  'leave',
  'drop',
  'return',
  'tick',
  'view',
  'own',
  'ended',
] as const
type Handler = (typeof handlers)[number]

const others = ['tick_hz', 'sync_hz', 'message', 'rpc', 'decimals', 'track'] as const
const known: readonly string[] = [...handlers, ...others]

const syncHzDefault = 20

/** @throws GuildhallError `invalid_argument` for what is no definition */
export function readDefinition(
  name: unknown,
  given: unknown,
  guest: GuestStates | undefined,
): RoomDefinition {
  if (!isName(name)) {
    throw invalidArgument('room: name must be 1 to 128 bytes without control characters')
  }
  const problem = (text: string) => invalidArgument(`room ${name}: ${text}`)
  if (!isObject(given)) throw problem('the definition must be an object')
  const unknown = Object.keys(given).find((member) => !known.includes(member))
  if (unknown !== undefined) {
    throw problem(`there is no member ${unknown}; there are ${known.join(', ')}`)
  }
  const fns: { [handler in Handler]?: Fn } = {}
  for (const handler of handlers) {
    const fn = given[handler]
    if (fn === undefined) continue
    if (!isFn(fn)) throw problem(`${handler} is not a function`)
    fns[handler] = fn
  }
  if (fns.create === undefined) throw problem('create is missing')
  if (fns.own !== undefined && fns.view === undefined) throw problem('own needs a view')
  if (given.track !== undefined && typeof given.track !== 'boolean') {
    throw problem('track must be a boolean')
  }
  const { tick_hz = 0, sync_hz = syncHzDefault } = given
  if (!isIntegerIn(tick_hz, 0, 120)) throw problem('tick_hz must be an integer of 0 to 120')
  if (!isIntegerIn(sync_hz, 1, 60)) throw problem('sync_hz must be an integer of 1 to 60')
  return {
    name,
    tickHz: tick_hz,
    syncHz: sync_hz,
    decimals: decimalsOf(given.decimals, problem),
    kinds: handlersBy(given.message, { what: 'message', isKey: isKind }, problem),
    methods: handlersBy(given.rpc, { what: 'rpc', isKey: isMethod }, problem),
    isTracked: given.track === true && guest === undefined,
    guest,
    create: fns.create,
    restore: fns.restore,
    admit: fns.admit,
    join: fns.join,
    leave: fns.leave,
    drop: fns.drop,
    return: fns.return,
    tick: fns.tick,
    view: fns.view,
    own: fns.own,
    ended: fns.ended,
  }
}

/** What the node needs to know of a definition. */
export function summaryOf(definition: RoomDefinition): RoomDefinitionSummary {
  const { name, tickHz, tick, kinds, methods } = definition
  return {
    name,
    tick_hz: tick === undefined ? 0 : tickHz,
    kinds: Object.keys(kinds).map(Number),
    methods: Object.keys(methods),
  }
}

type Problem = (text: string) => Error

function decimalsOf(given: unknown, problem: Problem): StateDecimals | undefined {
  if (given === undefined || isIntegerIn(given, 0, 6)) return given
  const isMap = isObject(given) && Object.values(given).every((value) => isIntegerIn(value, 0, 6))
  if (!isMap) throw problem('decimals must be 0 to 6, or an object of such numbers by name')
  return { ...given } as { [name: string]: number }
}

function handlersBy(
  given: unknown,
  { what, isKey }: { what: string; isKey: (key: string) => boolean },
  problem: Problem,
): { [key: string]: Fn } {
  const found: { [key: string]: Fn } = Object.create(null)
  if (given === undefined) return found
  if (!isObject(given)) throw problem(`${what} must be an object of functions`)
  for (const key of Object.keys(given)) {
    const fn = given[key]
    if (!isKey(key)) throw problem(`${what} has no handler for ${key}`)
    if (!isFn(fn)) throw problem(`${what}.${key} is not a function`)
    found[key] = fn
  }
  return found
}

function isFn(value: unknown): value is Fn {
  return typeof value === 'function'
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isIntegerIn(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
}

function isName(name: unknown): name is string {
  if (typeof name !== 'string' || name === '' || Buffer.byteLength(name) > 128) return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
  return !/[\u0000-\u001f\u007f]/.test(name)
}

function isKind(key: string): boolean {
  const kind = Number(key)
  return String(kind) === key && (kind === 1 || isIntegerIn(kind, 100, 65_535))
}

function isMethod(method: string): boolean {
  if (/^(matchmaker|party|rooms)\./.test(method)) return false
  return method !== '' && Buffer.byteLength(method) <= limits.rpcMethodBytes
}

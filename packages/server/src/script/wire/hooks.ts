import { type HookName, type ScriptHook, scriptHooks } from '@guildhall/contract'
import type { ScriptSchedule } from '../../kernel/play/script.ts'

/** Calls that are no hook of the table: a timer's, and what keeps the state of rooms. */
const ownCodes = {
  timer: 5,
  /** Makes the state of a room that is being made. */
  state_create: 240,
  /** Makes the state of a room again, from what the node has kept of it. */
  state_restore: 241,
  /** A member follows the state from now on (detail 1), or does not any more (0). */
  state_watch: 242,
  /** The worker's own: sends what differs from what the followers have. */
  state_sync: 243,
  /** The room was not made after all. */
  state_drop: 244,
  /** Another worker takes over: the newest states, whenever they were kept last. */
  state_save: 245,
} as const

/** The number of every call in the protocol between node and worker. */
export const hookCode: { readonly [name in HookName | keyof typeof ownCodes]: number } = {
  ...mapValues(scriptHooks, ({ code }) => code),
  ...ownCodes,
}

const ownNames: ReadonlyMap<number, string> = new Map(
  Object.entries(ownCodes).map(([name, code]) => [code, name]),
)

export function isCallCode(code: number): boolean {
  return hooksByCode[code] !== undefined || ownNames.has(code)
}

/** A hook with its name. */
export type Hook = { readonly name: HookName; readonly row: ScriptHook }

/** By their code; a timer is no hook. */
export const hooksByCode: readonly (Hook | undefined)[] = orderByCode()

export function isHookName(name: unknown): name is HookName {
  return typeof name === 'string' && Object.hasOwn(scriptHooks, name)
}

/** What logs call the hook of a call. */
export function hookNameOf(code: number): string {
  return hooksByCode[code]?.name ?? ownNames.get(code) ?? 'timer'
}

/** What the top level of a script registered. */
export type Handlers = {
  readonly rpcs: readonly string[]
  readonly message_kinds: readonly number[]
  /** Hook names other than on_message and on_rpc. */
  readonly hooks: readonly HookName[]
  /** Storage indexes that have a filter. */
  readonly filters: readonly string[]
  /** What runs at the times of a cron expression. */
  readonly schedules: readonly ScriptSchedule[]
  /** Definitions of rooms with state. */
  readonly rooms: readonly RoomDefinitionSummary[]
}

/** Of a script that has not started. */
export const noHandlers: Handlers = {
  rpcs: [],
  message_kinds: [],
  hooks: [],
  filters: [],
  schedules: [],
  rooms: [],
}

/** What the node needs to know of a definition of rooms. */
export type RoomDefinitionSummary = {
  readonly name: string
  /** 0 for rooms without ticks of their own. */
  readonly tick_hz: number
  readonly kinds: readonly number[]
  readonly methods: readonly string[]
}

function orderByCode(): (Hook | undefined)[] {
  const ordered: (Hook | undefined)[] = []
  for (const name of Object.keys(scriptHooks).filter(isHookName)) {
    ordered[scriptHooks[name].code] = { name, row: scriptHooks[name] }
  }
  return Array.from(ordered)
}

function mapValues<K extends string, V, W>(from: { [key in K]: V }, to: (value: V) => W) {
  const entries = Object.entries<V>(from).map(([key, value]) => [key, to(value)])
  return Object.fromEntries(entries) as { [key in K]: W }
}

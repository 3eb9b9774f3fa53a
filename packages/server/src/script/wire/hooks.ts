import { type HookName, type ScriptHook, scriptHooks } from '@guildhall/contract'

/** The number of every hook in the protocol between node and worker; 5 is a timer's. */
export const hookCode: { readonly [name in HookName | 'timer']: number } = {
  ...mapValues(scriptHooks, ({ code }) => code),
  timer: 5,
}

/** A hook with its name. */
export type Hook = ScriptHook & { readonly name: HookName }

/** By their code; a timer is no hook. */
export const hooksByCode: readonly (Hook | undefined)[] = orderByCode()

export function isHookName(name: unknown): name is HookName {
  return typeof name === 'string' && Object.hasOwn(scriptHooks, name)
}

/** What logs call the hook of a call. */
export function hookNameOf(code: number): string {
  return hooksByCode[code]?.name ?? 'timer'
}

/** What the top level of a script registered. */
export type Handlers = {
  readonly rpcs: readonly string[]
  readonly message_kinds: readonly number[]
  /** Hook names other than on_message and on_rpc. */
  readonly hooks: readonly HookName[]
  /** Storage indexes that have a filter. */
  readonly filters: readonly string[]
}

function orderByCode(): (Hook | undefined)[] {
  const ordered: (Hook | undefined)[] = []
  for (const name of Object.keys(scriptHooks).filter(isHookName)) {
    ordered[scriptHooks[name].code] = { name, ...scriptHooks[name] }
  }
  return Array.from(ordered)
}

function mapValues<K extends string, V, W>(from: { [key in K]: V }, to: (value: V) => W) {
  const entries = Object.entries<V>(from).map(([key, value]) => [key, to(value)])
  return Object.fromEntries(entries) as { [key in K]: W }
}

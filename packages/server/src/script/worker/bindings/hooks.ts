import type { HookName, ScriptHook } from '@guildhall/contract'
import type { Registry } from '../registry.ts'

/** The function that registers handlers of a hook. */
export function registration(registry: Registry, name: HookName, slot: ScriptHook['slot']) {
  switch (slot) {
    case 'kind':
      return (kind: unknown, fn: unknown) => registry.addKind(kind, fn)
    case 'method':
      return (method: unknown, fn: unknown) => registry.addMethod(method, fn)
    case 'index':
      return (index: unknown, fn: unknown) => registry.addFilter(index, fn)
    case 'cron':
      return (name: unknown, cron: unknown, fn: unknown) => registry.addSchedule(name, cron, fn)
    case 'one':
      return (fn: unknown) => registry.addHook(name, fn)
  }
}

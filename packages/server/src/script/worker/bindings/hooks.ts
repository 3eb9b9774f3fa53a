import { type HookName, type ScriptHook, scriptHooks } from '@guildhall/contract'
import { isHookName } from '../../wire/hooks.ts'
import type { Registry } from '../registry.ts'

/** The functions that register handlers, one per row of the table. */
export function createHookBindings(registry: Registry) {
  const names = Object.keys(scriptHooks).filter(isHookName)
  return names.map((name) => ({ name, ...bindingOf(registry, name) }))
}

function bindingOf(registry: Registry, name: HookName) {
  const { slot, planned }: ScriptHook = scriptHooks[name]
  return { planned, fn: registration(registry, name, slot) }
}

function registration(registry: Registry, name: HookName, slot: ScriptHook['slot']) {
  switch (slot) {
    case 'kind':
      return (kind: unknown, fn: unknown) => registry.addKind(kind, fn)
    case 'method':
      return (method: unknown, fn: unknown) => registry.addMethod(method, fn)
    case 'index':
      return (index: unknown, fn: unknown) => registry.addFilter(index, fn)
    case 'one':
      return (fn: unknown) => registry.addHook(name, fn)
  }
}

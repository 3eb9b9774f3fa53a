import { limits } from '../limits.ts'
import { FailSignal, invalidArgument } from '../worker/errors.ts'
import { type BindingHost, callerOf } from './binding-host.ts'

/** Registration of handlers, and the way for one to fail with a text of its own. */
export function createHookBindings(host: BindingHost) {
  const { registry } = host
  return {
    on_start: (fn: unknown) => registry.addHook('on_start', fn),
    on_join: (fn: unknown) => registry.addHook('on_join', fn),
    on_leave: (fn: unknown) => registry.addHook('on_leave', fn),
    on_message: (kind: unknown, fn: unknown) => registry.addKind(kind, fn),
    on_rpc: (method: unknown, fn: unknown) => registry.addMethod(method, fn),
    on_tick: (fn: unknown) => registry.addHook('on_tick', fn),
    on_leaderboard_reset: (fn: unknown) => registry.addHook('on_leaderboard_reset', fn),
    on_tournament_completed: (fn: unknown) => registry.addHook('on_tournament_completed', fn),
    fail(text: unknown): never {
      callerOf(host)
      const bytes = typeof text === 'string' ? Buffer.byteLength(text) : 0
      if (typeof text !== 'string' || bytes === 0 || bytes > limits.failTextBytes) {
        throw invalidArgument('fail: text must be 1 to 256 bytes')
      }
      throw new FailSignal(text)
    },
  }
}

import type { Delivery } from './ports.ts'
import type { HostCall, HostResult } from './protocol.ts'

type HostFunction = (args: readonly unknown[]) => unknown

/** Answers the calls of the worker that need the node. */
export function createHostCallAnswerer(delivery: Pick<Delivery, 'sessions'>) {
  const functions = new Map<string, HostFunction>([['session_list', () => delivery.sessions()]])
  return async ({ id, name, args }: HostCall): Promise<HostResult> => {
    const fn = functions.get(name)
    if (!fn) return { id, ok: false, code: 'unavailable', message: 'there is no such function' }
    try {
      return { id, ok: true, value: await fn(args) }
    } catch {
      return { id, ok: false, code: 'internal', message: 'the call failed' }
    }
  }
}

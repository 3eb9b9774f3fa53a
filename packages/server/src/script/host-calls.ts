import { Failure } from '../kernel/failure.ts'
import type { Log } from '../kernel/log/log.ts'
import type { Delivery, HostFunctions } from './ports.ts'
import type { HostCall, HostResult } from './protocol.ts'

type Deps = { delivery: Pick<Delivery, 'sessions'>; functions: HostFunctions; log: Log }

/** Answers the calls of the worker that need the node. */
export function createHostCallAnswerer({ delivery, functions, log }: Deps) {
  const known = new Map(Object.entries(functions)).set('session_list', () => delivery.sessions())
  return async ({ id, name, args }: HostCall): Promise<HostResult> => {
    const fn = known.get(name)
    if (!fn) return { id, ok: false, code: 'unavailable', message: 'there is no such function' }
    try {
      return { id, ok: true, value: await fn(...args) }
    } catch (error) {
      const refusal = error instanceof Failure ? refusalOf(error) : undefined
      if (refusal !== undefined) return { id, ok: false, ...refusal }
      log.error('a call of the script failed', { function: name, error })
      return { id, ok: false, code: 'internal', message: 'the call failed' }
    }
  }
}

/** What the script may know of a refusal; undefined for those that are none of its own doing. */
function refusalOf({ code, text }: Failure): { code: string; message: string } | undefined {
  switch (code) {
    case 'invalid_request':
      return { code: 'invalid_argument', message: text ?? 'an argument is not valid' }
    case 'conflict':
      return { code, message: text ?? code }
    case 'not_found':
      return { code, message: 'not found' }
    default:
      return undefined
  }
}

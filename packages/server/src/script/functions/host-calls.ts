import { once, type ScriptErrorCode, type ScriptTier } from '@guildhall/contract'
import { Unavailable } from '../../kernel/errors/unavailable.ts'
import { Failure } from '../../kernel/failure.ts'
import type { Log } from '../../kernel/log/log.ts'
import { type ScriptCaller, ScriptFailure } from '../../kernel/play/script.ts'
import type { HostFunctions } from '../ports.ts'
import type { HostCall, HostResult, Refusal, StoppedCall } from '../wire/protocol.ts'
import { scriptRows } from './arguments.ts'
import { hostFunction } from './host-function.ts'
import { StoppableCalls } from './stoppable-calls.ts'

type Deps = { functions: HostFunctions; tier: ScriptTier; log: Log }

export type HostCallAnswerer = ReturnType<typeof createHostCallAnswerer>

/** Answers the calls of the worker that need the node, as the table declares them. */
export function createHostCallAnswerer({ functions, tier, log }: Deps) {
  const served = new Map(
    Object.entries(functions).flatMap(([name, fn]) => {
      const row = scriptRows.get(name)
      // With its first call: what it answers by has schemas, and the script waits at the start.
      return row && fn ? [[name, once(() => hostFunction(name, row, fn))] as const] : []
    }),
  )
  const stoppable = new StoppableCalls()

  /** `caller` is of this call alone. */
  async function answer(call: HostCall, caller: ScriptCaller): Promise<HostResult> {
    const { id, name, args } = call
    const row = scriptRows.get(name)
    const made = served.get(name)
    if (row?.runs !== 'node' || row.planned || !made)
      return refused(id, 'unavailable', `${name} is not available`)
    if (row.tier === 'trusted' && tier !== 'trusted') {
      return refused(id, 'forbidden', `${name} is not for sandboxed scripts`)
    }
    const { signal, end } = stoppable.begin(call)
    caller.signal = signal
    try {
      return { id, ok: true, value: await made()(caller, args) }
    } catch (error) {
      const refusal = refusalOf(name, error)
      if (refusal.code === 'internal') {
        log.error('a call of the script failed', { function: name, error })
      }
      return { id, ok: false, ...refusal }
    } finally {
      end()
    }
  }

  return {
    answer,
    /** The script waits for it no longer: it stops if it can, and is answered as ever. */
    stop: (call: StoppedCall) => stoppable.stopOne(call),
    /** The invocation is given up: what can stop of its calls does. */
    giveUp: (invocation: number) => stoppable.stop(invocation),
    giveUpAll: () => stoppable.stopAll(),
  }
}

function refused(id: number, code: ScriptErrorCode, message: string): HostResult {
  return { id, ok: false, code, message }
}

/** What the script may know of an error. What says nothing by itself says at least which call. */
function refusalOf(name: string, error: unknown): Refusal {
  if (error instanceof ScriptFailure) {
    const { code, message, reason } = error
    return reason === undefined ? { code, message } : { code, message, reason }
  }
  if (error instanceof Unavailable) return unavailable(name)
  if (!(error instanceof Failure)) return internal(name)
  const { index } = error
  const refusal = failureRefusal(name, error)
  return index === undefined ? refusal : { ...refusal, index }
}

function failureRefusal(name: string, { code, text, message }: Failure): Refusal {
  switch (code) {
    case 'invalid_request':
      return { code: 'invalid_argument', message: text ?? `${name}: an argument is not valid` }
    case 'conflict':
      return { code, message: text ?? `${name}: ${code}` }
    case 'not_found':
    case 'forbidden':
      return { code, message: `${name}: ${text ?? message}` }
    case 'runtime_unavailable':
      return unavailable(name)
    case 'deadline_exceeded':
      return { code: 'timeout', message: `${name}: the call took too long` }
    case 'rate_limited':
      return { code: 'limit_exceeded', message: `${name}: too many requests` }
    default:
      return internal(name)
  }
}

function internal(name: string): Refusal {
  return { code: 'internal', message: `${name}: the call failed` }
}

function unavailable(name: string): Refusal {
  return { code: 'unavailable', message: `${name}: not available now` }
}

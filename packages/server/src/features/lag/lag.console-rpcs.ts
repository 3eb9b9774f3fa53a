import { LagOne, LagStart, type RpcAnswer } from '@guildhall/contract'
import { Failure } from '../../kernel/failure.ts'
import { validateJson } from '../../kernel/json/validate.ts'
import type { Mutation } from '../../kernel/mutation.ts'
import { ScriptFailure } from '../../kernel/play/script.ts'
import type { Captures } from './captures/captures.ts'
import { enabled } from './lag.script.ts'

/** An RPC that operators call and no script serves. */
export type ConsoleRpc = (mutation: Mutation, payload: string) => Promise<RpcAnswer>

/** Captures as the console starts them, without a script. */
export function consoleRpcs(captures: Captures | undefined) {
  return {
    'lag.start': answering(({ actor }, payload) => {
      const options = validateJson(LagStart(), payload, 'payload')
      return enabled(captures).start({ actor, action: 'lag.start' }, options)
    }),
    'lag.flush': answering(({ actor }, payload) => {
      const { capture_id } = validateJson(LagOne(), payload, 'payload')
      return enabled(captures).flush({ actor, action: 'lag.flush' }, capture_id)
    }),
    'lag.status': answering(async (_mutation, payload) => {
      const { capture_id } = validateJson(LagOne(), payload, 'payload')
      return enabled(captures).status(capture_id)
    }),
  } satisfies Record<string, ConsoleRpc>
}

function answering(act: (mutation: Mutation, payload: string) => Promise<unknown>): ConsoleRpc {
  return async (mutation, payload) => {
    try {
      return { ok: true, reply: JSON.stringify(await act(mutation, payload)) }
    } catch (error) {
      if (error instanceof ScriptFailure) return { ok: false, error: error.code }
      if (!(error instanceof Failure) || error.code !== 'invalid_request') throw error
      return { ok: false, error: 'invalid_argument', reason: error.message }
    }
  }
}

import { type logsScript, stringifyExact } from '@guildhall/contract'
import type { ScriptPart } from '../../kernel/play/script.ts'
import type { createScriptLogs } from './script-logs.service.ts'

type Part = Pick<ScriptPart<typeof logsScript>, 'log.write'>

/** Lines of the game's script; the worker has checked the payload and made the id. */
export function scriptLogFunctions(
  logs: Pick<ReturnType<typeof createScriptLogs>, 'write'>,
  wrote: () => void,
): Part {
  return {
    'log.write': (caller, { payload, ...line }, made) => {
      wrote()
      const hasPayload = payload !== undefined && payload !== null
      const payload_json = typeof payload === 'string' ? payload : stringifyExact(payload ?? null)
      logs.write(hasPayload ? { ...line, payload_json } : line, caller, made)
    },
  }
}

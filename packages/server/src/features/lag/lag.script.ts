import type { AuditAction, lagScript } from '@guildhall/contract'
import type { Mutation } from '../../kernel/mutation.ts'
import {
  byScript,
  type ScriptCaller,
  ScriptFailure,
  type ScriptPart,
} from '../../kernel/play/script.ts'
import type { Captures } from './captures/captures.ts'

/** Captures as scripts start them; without captures every call is refused. */
export function lagFunctions(captures: Captures | undefined): ScriptPart<typeof lagScript> {
  return {
    'lag.start': async (caller, { options }) =>
      enabled(captures).start(mutationOf(caller, 'lag.start'), options),
    'lag.flush': async (caller, { capture_id }) =>
      enabled(captures).flush(mutationOf(caller, 'lag.flush'), capture_id),
    'lag.status': (_caller, { capture_id }) => enabled(captures).status(capture_id),
  }
}

/** @throws ScriptFailure `unavailable` while captures are off */
export function enabled(captures: Captures | undefined): Captures {
  if (captures === undefined) throw new ScriptFailure('unavailable', 'lag diagnostics are off')
  return captures
}

/** The operator who called the script from the console, else the script itself. */
function mutationOf(caller: ScriptCaller, action: AuditAction): Mutation {
  const { operator } = caller
  return operator === undefined ? byScript(caller, action) : { actor: operator, action }
}

import { type RpcRequest, stringifyExact } from '@guildhall/contract'
import type { RpcOutcome as ScriptOutcome } from '../../../kernel/play/calls.ts'
import { isBuiltIn } from '../../built-in-methods.ts'
import type { GameScript } from '../../ports.ts'
import type { Participant } from '../participants/participant.ts'
import { type BuiltInMethod, type BuiltInMethods, readPayload } from './built-in.ts'
import type { Caller } from './caller.ts'

type RpcOutcome = ScriptOutcome & { after?: (() => void) | undefined }

type RpcDeps = { script: Pick<GameScript, 'rpc'>; builtIns: BuiltInMethods }

/** Serves the RPCs of participants: each is replied to once. */
export function createRpcs({ script, builtIns }: RpcDeps) {
  function outcomeOf(caller: Caller, { method, payload }: RpcRequest): Promise<RpcOutcome> {
    if (!isBuiltIn(method)) return script.rpc(caller.context, method, payload)
    const builtIn = Object.hasOwn(builtIns, method) ? builtIns[method] : undefined
    if (builtIn === undefined) return Promise.resolve(refusal('unknown RPC method'))
    return callBuiltIn(caller, builtIn, payload)
  }

  return (participant: Participant, request: RpcRequest): void => {
    // The reply goes to the connection that asked.
    const { receiver } = participant
    const settle = ({ after, ...outcome }: RpcOutcome) => {
      receiver.replied(request.request_id, outcome)
      after?.()
    }
    outcomeOf(participant, request).then(settle, () => settle(refusal('RPC handler error')))
  }
}

async function callBuiltIn(
  caller: Caller,
  method: BuiltInMethod,
  payload: Uint8Array,
): Promise<RpcOutcome> {
  const fields = readPayload(payload, method.fields)
  if (fields === undefined) return refusal('invalid JSON body')
  const answer = await method.call(caller, fields)
  if ('refusal' in answer) return refusal(answer.refusal)
  const reply = utf8.encode(stringifyExact(answer.reply))
  return { ok: true, reply, after: answer.after }
}

function refusal(error: string): RpcOutcome {
  return { ok: false, error }
}

const utf8 = new TextEncoder()

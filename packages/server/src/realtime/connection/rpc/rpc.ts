import {
  kinds,
  type RpcRequest,
  rpcRequestBody,
  rpcRequestId,
  rpcResponseBody,
  stringifyExact,
  WireError,
} from '@guildhall/contract'
import type { RpcOutcome as ScriptOutcome } from '../../../kernel/play/calls.ts'
import type { GameScript } from '../../ports.ts'
import { protocolError } from '../closing/closings.ts'
import type { LiveSession } from '../live/live-session.ts'
import { type BuiltInMethod, type BuiltInMethods, isBuiltIn, readPayload } from './built-in.ts'

type RpcOutcome = ScriptOutcome & { after?: (() => void) | undefined }

type RpcDeps = { script: GameScript; inFlightMax: number; builtIns: BuiltInMethods }

const replyBytesMax = 65536

/**
 * Answers RPC_REQUEST: every request with a readable id gets exactly one response, as long as its
 * connection lasts.
 */
export function createRpc({ script, inFlightMax, builtIns }: RpcDeps) {
  function outcomeOf(live: LiveSession, { method, payload }: RpcRequest): Promise<RpcOutcome> {
    if (!isBuiltIn(method)) return script.rpc(live.participant.context, method, payload)
    const builtIn = Object.hasOwn(builtIns, method) ? builtIns[method] : undefined
    if (builtIn === undefined) return Promise.resolve(refusal('unknown RPC method'))
    return callBuiltIn(live, builtIn, payload)
  }

  function run(live: LiveSession, request: RpcRequest): void {
    const { client } = live
    const { request_id } = request
    if (client.rpcsOpen >= inFlightMax) {
      respond(live, request_id, refusal('too many requests'))
      return
    }
    const settle = (outcome: RpcOutcome) => {
      client.rpcsOpen -= 1
      respond(live, request_id, outcome)
      outcome.after?.()
    }
    client.rpcsOpen += 1
    outcomeOf(live, request).then(settle, () => settle(refusal('RPC handler error')))
  }

  return (live: LiveSession, body: Uint8Array): void => {
    try {
      run(live, rpcRequestBody.decode(body))
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      if (error.code === 'rpc_header') live.end(protocolError('rpc header'))
      else respond(live, rpcRequestId(body), refusal('malformed request'))
    }
  }
}

async function callBuiltIn(
  live: LiveSession,
  method: BuiltInMethod,
  payload: Uint8Array,
): Promise<RpcOutcome> {
  const fields = readPayload(payload, method.fields)
  if (fields === undefined) return refusal('invalid JSON body')
  const answer = await method.call(live, fields)
  if ('refusal' in answer) return refusal(answer.refusal)
  const reply = utf8.encode(stringifyExact(answer.reply))
  return { ok: true, reply, after: answer.after }
}

function respond(live: LiveSession, request_id: bigint, outcome: RpcOutcome): void {
  const answer = outcome.ok && outcome.reply.length > replyBytesMax ? replyTooLarge : outcome
  const payload = answer.ok ? answer.reply : utf8.encode(answer.error)
  live.send(
    kinds.RPC_RESPONSE.first,
    rpcResponseBody.encode({ request_id, ok: answer.ok, payload }),
  )
}

function refusal(error: string): RpcOutcome {
  return { ok: false, error }
}

const replyTooLarge = refusal('RPC reply too large')
const utf8 = new TextEncoder()

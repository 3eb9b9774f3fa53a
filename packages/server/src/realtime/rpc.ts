import {
  kinds,
  type RpcRequest,
  rpcRequestBody,
  rpcRequestId,
  rpcResponseBody,
  WireError,
} from '@guildhall/contract'
import type { RpcOutcome } from '../kernel/play/calls.ts'
import type { GameScript } from './ports.ts'
import { protocolError } from './session/closings.ts'
import type { LiveSession } from './session/live-session.ts'

/** Methods that start so are the service's own; a script cannot register them. */
const builtInFamilies = ['matchmaker.', 'party.'] as const

const replyBytesMax = 65536

/**
 * Answers RPC_REQUEST: every request with a readable id gets exactly one response, as long as its
 * connection lasts.
 */
export function createRpc({ script, inFlightMax }: { script: GameScript; inFlightMax: number }) {
  function run(live: LiveSession, request: RpcRequest): void {
    const { participant, client } = live
    const { request_id, method, payload } = request
    if (builtInFamilies.some((family) => method.startsWith(family))) {
      respond(live, request_id, refusal('unknown RPC method'))
      return
    }
    if (client.rpcsOpen >= inFlightMax) {
      respond(live, request_id, refusal('too many requests'))
      return
    }
    const settle = (outcome: RpcOutcome) => {
      client.rpcsOpen -= 1
      respond(live, request_id, outcome)
    }
    client.rpcsOpen += 1
    script
      .rpc(participant.context, method, payload)
      .then(settle, () => settle(refusal('RPC handler error')))
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

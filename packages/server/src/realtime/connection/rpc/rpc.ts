import {
  plainFailure,
  type RpcRequest,
  rpcFailureBody,
  rpcRequestBody,
  rpcRequestId,
  sessionFlags,
} from '@guildhall/contract'
import type { RpcOutcome } from '../../../kernel/play/calls.ts'
import { decoded } from '../../../kernel/play/decoded.ts'
import { responseFrame } from '../../frames/outgoing-frame.ts'
import type { PlayPort } from '../../play.port.ts'
import { protocolError } from '../closing/closings.ts'
import type { LiveConnection } from '../live/live-connection.ts'

type RpcDeps = { play: Pick<PlayPort, 'rpc'>; inFlightMax: number }

const replyBytesMax = 65536
const requestId = { decode: rpcRequestId }

/**
 * Answers RPC_REQUEST: every request with a readable id gets exactly one response, as long as its
 * connection lasts.
 */
export type Rpc = {
  request(live: LiveConnection, body: Uint8Array): void
  /** The owner has replied to a request. */
  replied(live: LiveConnection, requestId: bigint, outcome: RpcOutcome): void
}

export function createRpc({ play, inFlightMax }: RpcDeps): Rpc {
  function ask(live: LiveConnection, request: RpcRequest): void {
    const { client } = live
    if (client.rpcsOpen >= inFlightMax) {
      respond(live, request.request_id, refusal('too many requests'))
      return
    }
    client.rpcsOpen += 1
    play.rpc(live.participant, request)
  }

  return {
    request(live, body) {
      const request = decoded(rpcRequestBody, body)
      if (request !== undefined) return ask(live, request)
      const id = decoded(requestId, body)
      if (id === undefined) live.end(protocolError('rpc header'))
      else respond(live, id, refusal('malformed request'))
    },
    replied(live, requestId, outcome) {
      live.client.rpcsOpen -= 1
      respond(live, requestId, outcome)
    },
  }
}

function respond(live: LiveConnection, request_id: bigint, outcome: RpcOutcome): void {
  const answer = outcome.ok && outcome.reply.length > replyBytesMax ? replyTooLarge : outcome
  const payload = answer.ok ? answer.reply : failurePayload(live, answer)
  live.sendFrame(responseFrame({ request_id, ok: answer.ok, payload }))
}

/** Clients that ask for failures get code and data as well. */
function failurePayload(live: LiveConnection, { error, more = plainFailure }: Refusal): Uint8Array {
  const isAsked = ((live.client.flags ?? 0) & sessionFlags.failures) !== 0
  return isAsked ? rpcFailureBody.encode({ message: error, ...more }) : utf8.encode(error)
}

type Refusal = RpcOutcome & { ok: false }

function refusal(error: string): Refusal {
  return { ok: false, error }
}

const replyTooLarge = refusal('RPC reply too large')
const utf8 = new TextEncoder()

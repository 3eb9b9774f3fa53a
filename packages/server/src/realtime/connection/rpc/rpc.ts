import {
  plainFailure,
  rpcFailureBody,
  rpcRequestBody,
  rpcRequestId,
  sessionFlags,
  WireError,
} from '@guildhall/contract'
import type { RpcOutcome } from '../../../kernel/play/calls.ts'
import { responseFrame } from '../../frames/outgoing-frame.ts'
import type { PlayPort } from '../../play.port.ts'
import { protocolError } from '../closing/closings.ts'
import type { LiveConnection } from '../live/live-connection.ts'

type RpcDeps = { play: Pick<PlayPort, 'rpc'>; inFlightMax: number }

const replyBytesMax = 65536

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
  function ask(live: LiveConnection, body: Uint8Array): void {
    const { client } = live
    const request = rpcRequestBody.decode(body)
    if (client.rpcsOpen >= inFlightMax) {
      respond(live, request.request_id, refusal('too many requests'))
      return
    }
    client.rpcsOpen += 1
    play.rpc(live.participant, request)
  }

  return {
    request(live, body) {
      try {
        ask(live, body)
      } catch (error) {
        if (!(error instanceof WireError)) throw error
        if (error.code === 'rpc_header') live.end(protocolError('rpc header'))
        else respond(live, rpcRequestId(body), refusal('malformed request'))
      }
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

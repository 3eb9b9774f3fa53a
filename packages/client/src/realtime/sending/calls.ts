import {
  kinds,
  plainFailure,
  rpcFailureBody,
  rpcMethodBytesMax,
  rpcRequestBody,
  rpcResponseBody,
} from '@guildhall/contract/wire'
import { GuildhallError, invalidArgument } from '../../error.ts'
import type { CallOptions, ReplyForm, RpcOptions } from '../call-options.ts'
import type { Part, Wire } from '../part.ts'
import { abortedBy, watchDeadline } from './deadline.ts'
import { encodePayload, readJson, readText, utf8Length } from './payload.ts'
import type { Waiting } from './waiting-queue.ts'

/** Most calls that the server may owe an answer; it refuses more. */
const unansweredMax = 32

/** How a call ended. */
export type Outcome = { payload: Uint8Array } | { error: GuildhallError }

export type Calls = Part & {
  /** Calls `settled` exactly once, in the turn of the reply. */
  start(
    request: { method: string; payload: Uint8Array; call?: CallOptions },
    settled: (outcome: Outcome) => void,
  ): void
  rpc(method: string, payload?: unknown, options?: RpcOptions): Promise<unknown>
}

type Call = { isSettled: boolean; settle(outcome: Outcome): void }

/** Remote procedure calls: each is sent once, and answered or given up. */
export function createCalls(wire: Wire): Calls {
  /** By request id; also those whose callers have given up, until the server has answered. */
  const unanswered = new Map<bigint, Call>()
  const waiting = new Set<Call>()
  let lastId = 0n

  function start(
    { method, payload, call = {} }: Parameters<Calls['start']>[0],
    settled: (outcome: Outcome) => void,
  ): void {
    lastId += 1n
    const id = lastId
    let stopWatch = () => {}
    const entry: Call = {
      isSettled: false,
      settle(outcome) {
        if (entry.isSettled) return
        entry.isSettled = true
        stopWatch()
        settled(outcome)
      },
    }
    if (wire.isClosed) {
      entry.settle({ error: closedError() })
      return
    }
    if (call.signal?.aborted) {
      entry.settle({ error: abortedBy(call.signal) })
      return
    }
    try {
      const body = requestBody(id, method, payload)
      wire.checkSize(body)
      const place = placeOf(entry, id, body)
      stopWatch = watchDeadline(wire.host, call, (error) => {
        wire.waiting.remove(place)
        waiting.delete(entry)
        entry.settle({ error })
      })
      // What waits for room in the transport goes first, and may use up the calls.
      wire.waiting.isClear()
      if (place.go()) return
      wire.waiting.push(place)
      waiting.add(entry)
    } catch (error) {
      entry.settle({ error: error as GuildhallError })
    }
  }

  function placeOf(entry: Call, id: bigint, body: Uint8Array): Waiting {
    return {
      isCall: true,
      bytes: body.length,
      go() {
        if (!wire.isOpen || unanswered.size >= unansweredMax) return false
        wire.write(kinds.RPC_REQUEST.first, body)
        unanswered.set(id, entry)
        waiting.delete(entry)
        return true
      },
    }
  }

  function answered(body: Uint8Array): void {
    const { request_id, ok, payload } = rpcResponseBody.decode(body)
    const call = unanswered.get(request_id)
    if (call === undefined) return
    unanswered.delete(request_id)
    call.settle(ok ? { payload } : { error: refused(payload) })
    wire.waiting.flush()
  }

  function rejectAll(calls: Iterable<Call>, error: GuildhallError): void {
    for (const call of [...calls]) call.settle({ error })
  }

  return {
    start,
    rpc(method, payload, options = {}) {
      const { as = 'json', ...call } = options
      return new Promise((resolve, reject) => {
        const request = { method, payload: encodePayload(payload), call }
        start(request, (outcome) => {
          if ('error' in outcome) return reject(outcome.error)
          try {
            resolve(readReply(outcome.payload, as))
          } catch (error) {
            reject(error)
          }
        })
      })
    },
    lost(error) {
      rejectAll(unanswered.values(), error)
      unanswered.clear()
    },
    closed(error) {
      rejectAll([...unanswered.values(), ...waiting], error)
      unanswered.clear()
      waiting.clear()
    },
    handlers: { [kinds.RPC_RESPONSE.first]: answered },
  }
}

function requestBody(id: bigint, method: string, payload: Uint8Array): Uint8Array {
  if (typeof method !== 'string' || utf8Length(method) > rpcMethodBytesMax) {
    throw invalidArgument(`a method is a text of at most ${rpcMethodBytesMax} bytes`)
  }
  return rpcRequestBody.encode({ request_id: id, method, payload })
}

function readReply(payload: Uint8Array, as: ReplyForm): unknown {
  if (as === 'bytes') return payload
  if (as === 'text') return readText(payload)
  return payload.length === 0 ? undefined : readJson(payload, `; read it with as: 'text'`)
}

/**
 * The text is the server's or the script's; bytes that are no UTF-8 do not hide the refusal, and an
 * older server sends the text alone.
 */
function refused(payload: Uint8Array): GuildhallError {
  try {
    const { message, ...refusal } = rpcFailureBody.decode(payload)
    return new GuildhallError('rpc_refused', message, { refusal })
  } catch {
    const text = new TextDecoder().decode(payload)
    return new GuildhallError('rpc_refused', text, { refusal: plainFailure })
  }
}

export function closedError(reason?: string, closeCode?: number | null): GuildhallError {
  const text = reason === undefined ? '' : `: ${reason}`
  const facts = { closeCode: closeCode ?? undefined }
  return new GuildhallError('closed', `the connection is closed${text}`, facts)
}

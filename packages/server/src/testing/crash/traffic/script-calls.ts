import { once } from 'node:events'
import {
  encodeFrame,
  envelopeBytesMax,
  FrameDecoder,
  kinds,
  rpcRequestBody,
  rpcResponseBody,
} from '@guildhall/contract'
import WebSocket from 'ws'
import type { ApiAnswer } from '../../api.ts'

/** Calls a method of the game's script; rejects when no answer comes any more. */
export type ScriptCaller = (method: string, payload: unknown) => Promise<ApiAnswer>

/**
 * Connects to a node as a guest. What the script answers is the answer's body; a code that says
 * that the database is away, or that there is no script, counts as a server's error.
 */
export async function connectScript(url: string): Promise<ScriptCaller> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime`)
  socket.binaryType = 'nodebuffer'
  const open = new Map<bigint, PromiseWithResolvers<ApiAnswer>>()
  const decoder = new FrameDecoder(envelopeBytesMax)
  let calls = 0n

  function end(): void {
    for (const { reject } of open.values()) reject(new Error('the connection is gone'))
    open.clear()
  }

  socket.on('message', (data: Buffer) => {
    decoder.push(data)
    for (let next = decoder.next(); next !== undefined; next = decoder.next()) {
      if (next.kind !== kinds.RPC_RESPONSE.first) continue
      const { request_id, ok, payload } = rpcResponseBody.decode(next.body)
      open.get(request_id)?.resolve(answerOf(ok, Buffer.from(payload).toString()))
      open.delete(request_id)
    }
  })
  socket.on('close', end)
  socket.on('error', end)
  await once(socket, 'open')
  socket.send(encodeFrame(kinds.AUTH.first, new Uint8Array()))

  return (method, payload) => {
    if (socket.readyState !== WebSocket.OPEN) return Promise.reject(new Error('not connected'))
    calls += 1n
    const answer = Promise.withResolvers<ApiAnswer>()
    open.set(calls, answer)
    const body = Buffer.from(JSON.stringify(payload))
    const request = rpcRequestBody.encode({ request_id: calls, method, payload: body })
    socket.send(encodeFrame(kinds.RPC_REQUEST.first, request))
    return answer.promise
  }
}

function answerOf(ok: boolean, text: string): ApiAnswer {
  const body: unknown = ok ? JSON.parse(text) : { code: 'unavailable' }
  const isAway = Object(body).code === 'unavailable'
  return { status: isAway ? 500 : 200, headers: new Headers(), body, text }
}

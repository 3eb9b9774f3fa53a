import { setTimeout as sleep } from 'node:timers/promises'
import { encodeFrame, frameHeaderBytes, kinds, rpcRequestBody } from '@guildhall/contract'
import type { Child } from '../processes/child.ts'
import { warmUpShare } from './http-load.ts'
import { clientMessage, type WebSocketClient } from './websocket-client.ts'
import { startWindow, type Window } from './window.ts'

export type RpcLoad = {
  server: Child
  clients: readonly WebSocketClient[]
  /** The next message of any client. */
  message: () => Buffer
  /** Bytes of every answer. */
  answerBytes: number
  /** Whether the answers are responses to calls, of which each must be a success. */
  areResponses: boolean
  seconds: number
}

export type RpcOutcome = Window & { perSecond: number; perCpuSecond: number }

/** A call of a method of the game's script, as a WebSocket message. */
export function rpcMessage(method: string, payload: string): Buffer {
  const request = { request_id: 1n, method, payload: Buffer.from(payload) }
  return clientMessage(encodeFrame(kinds.RPC_REQUEST.first, rpcRequestBody.encode(request)))
}

/** Bytes of a response in front of its payload. */
export const responseHeadBytes = frameHeaderBytes + 8 + 1

/** Keeps one call in flight on every connection. */
export async function runRpcLoad(load: RpcLoad): Promise<RpcOutcome> {
  const { server, clients, message, answerBytes, areResponses, seconds } = load
  let answers = 0
  let isOver = false
  let failure: string | undefined
  for (const client of clients) {
    let received = 0
    client.onClose = () => {
      if (!isOver) failure ??= 'the server closed a WebSocket under load'
    }
    client.onPayload = (piece) => {
      if (areResponses && received === 0 && piece[responseHeadBytes - 1] !== 0) {
        failure ??= `a call failed: ${piece.toString('utf8', responseHeadBytes)}`
      }
      received += piece.length
      if (received < answerBytes) return
      received -= answerBytes
      answers += 1
      if (!isOver) client.write(message())
    }
  }
  for (const client of clients) client.write(message())
  await sleep(seconds * warmUpShare * 1000)
  const before = answers
  const end = startWindow(server)
  await sleep(seconds * 1000)
  const window = end()
  const counted = answers - before
  isOver = true
  await sleep(drainMs)
  if (failure !== undefined) throw new Error(failure)
  return {
    ...window,
    perSecond: counted / window.seconds,
    perCpuSecond: (counted * 1000) / window.cpuMs,
  }
}

/** What is on the way arrives before the connections are used again. */
const drainMs = 100

import {
  authBody,
  authResultBody,
  type Envelope,
  encodeFrame,
  envelopeBytesMax,
  FrameDecoder,
  kinds,
  roomCreateBody,
  roomEnterBody,
  roomRejectBody,
  rpcRequestBody,
  rpcResponseBody,
  sessionFlags,
  sessionOptionsBody,
} from '@guildhall/contract'
import { clientMessage, WebSocketClient } from './websocket-client.ts'

export const realtimePath = '/v1/realtime'

/** Connects without an account. */
export async function openGuest(port: number): Promise<WebSocketClient> {
  const client = await WebSocketClient.open({ port, path: realtimePath })
  client.write(frameMessage(kinds.AUTH.first, authBody.encode({ access_token: '' })))
  await nextEnvelope(client, kinds.AUTH_RESULT.first)
  return client
}

/** Connects and signs in; resolves once the server has accepted the token. */
export async function openPlayer(
  port: number,
  token: string,
  localAddress?: string,
): Promise<WebSocketClient> {
  const options = { port, path: realtimePath, ...(localAddress ? { localAddress } : {}) }
  const client = await WebSocketClient.open(options)
  client.write(frameMessage(kinds.AUTH.first, authBody.encode({ access_token: token })))
  const { body } = await nextEnvelope(client, kinds.AUTH_RESULT.first)
  const { status } = authResultBody.decode(body)
  if (status !== 'account') throw new Error(`the handshake ended as ${status}`)
  return client
}

/** Calls a method of the game's script and waits for its answer. */
export async function callScript(
  client: WebSocketClient,
  method: string,
  payload: string,
): Promise<void> {
  const request = { request_id: 1n, method, payload: new TextEncoder().encode(payload) }
  client.write(frameMessage(kinds.RPC_REQUEST.first, rpcRequestBody.encode(request)))
  const { body } = await nextEnvelope(client, kinds.RPC_RESPONSE.first)
  const answer = rpcResponseBody.decode(body)
  if (!answer.ok) throw new Error(`${method}: ${new TextDecoder().decode(answer.payload)}`)
}

/** Enters a room by its name, and makes it if it is not there; resolves once it is in. */
export async function enterRoom(client: WebSocketClient, name: string): Promise<void> {
  const joined = nextEnvelope(client, kinds.ROOM_JOINED.first)
  client.write(frameMessage(kinds.ROOM_CREATE.first, roomCreateBody.encode({ name })))
  await joined
}

/** Enters a room with state by its name, or makes it, and asks for its states. */
export async function followRoom(
  client: WebSocketClient,
  name: string,
  options: object,
): Promise<void> {
  const flags = sessionFlags.room_state
  client.write(frameMessage(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags })))
  const joined = nextEnvelope(client, kinds.ROOM_JOINED.first)
  const enter = { mode: 'join_or_create', name, options: JSON.stringify(options) } as const
  client.write(frameMessage(kinds.ROOM_ENTER.first, roomEnterBody.encode(enter)))
  await joined
}

/** A WebSocket message of one frame. */
export function frameMessage(kind: number, body: Uint8Array): Buffer {
  return clientMessage(encodeFrame(kind, body))
}

/** The next envelope of a kind; what comes before it is dropped, but a refusal of a room. */
export function nextEnvelope(client: WebSocketClient, kind: number): Promise<Envelope> {
  const decoder = new FrameDecoder(envelopeBytesMax)
  return new Promise((resolve, reject) => {
    client.onClose = () => reject(new Error('the server closed a WebSocket'))
    client.onPayload = (piece) => {
      decoder.push(Buffer.from(piece))
      for (let next = decoder.next(); next; next = decoder.next()) {
        if (next.kind === kind) resolve(next)
        else if (next.kind === kinds.ROOM_REJECT.first) {
          reject(new Error(`no room: ${roomRejectBody.decode(next.body).reason}`))
        }
      }
    }
  })
}

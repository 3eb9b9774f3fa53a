import { once } from 'node:events'
import {
  encodeFrame,
  envelopeBytesMax,
  FrameDecoder,
  kinds,
  roomCreateBody,
  roomRejectBody,
} from '@guildhall/contract'
import WebSocket from 'ws'
import type { ApiAnswer } from '../../api.ts'

/** Moves a guest into a room, or out of its room; rejects when no answer comes any more. */
export type RoomCaller = (guest: number, room: string | null) => Promise<ApiAnswer>

/** Guests that move, each of which makes one request at a time. */
export const guestsCount = 2
/** Rooms of guests that stay, so that every kill leaves matches that go on. */
const residences = ['den', 'lair'] as const
export const membersMax = guestsCount + 1

/** Connects guests to a node. */
export async function connectRooms(url: string): Promise<RoomCaller> {
  for (const room of residences) {
    const enter = await connectGuest(url)
    await enter(room)
  }
  const guests = await Promise.all(Array.from({ length: guestsCount }, () => connectGuest(url)))
  return (guest, room) => guests[guest]?.(room) ?? Promise.reject(new Error('no such guest'))
}

async function connectGuest(url: string): Promise<(room: string | null) => Promise<ApiAnswer>> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime`)
  socket.binaryType = 'nodebuffer'
  const decoder = new FrameDecoder(envelopeBytesMax)
  let open: PromiseWithResolvers<ApiAnswer> | undefined
  let isInRoom = false
  const end = () => open?.reject(new Error('the connection is gone'))

  socket.on('message', (data: Buffer) => {
    decoder.push(data)
    for (let next = decoder.next(); next !== undefined; next = decoder.next()) {
      const { kind, body } = next
      if (kind === kinds.ROOM_REJECT.first) {
        open?.resolve(answer(500, roomRejectBody.decode(body).reason))
      }
      if (kind !== kinds.ROOM_JOINED.first && kind !== kinds.ROOM_LEAVE.first) continue
      isInRoom = kind === kinds.ROOM_JOINED.first
      open?.resolve(answer(200, ''))
    }
  })
  socket.on('close', end)
  socket.on('error', end)
  await once(socket, 'open')
  socket.send(encodeFrame(kinds.AUTH.first, new Uint8Array()))

  return (room) => {
    if (socket.readyState !== WebSocket.OPEN) return Promise.reject(new Error('not connected'))
    // Outside a room a leave gets no answer.
    if (room === null && !isInRoom) return Promise.resolve(answer(200, ''))
    open = Promise.withResolvers()
    const [kind, body] =
      room === null
        ? [kinds.ROOM_LEAVE.first, new Uint8Array(8)]
        : [kinds.ROOM_CREATE.first, roomCreateBody.encode({ name: room })]
    socket.send(encodeFrame(kind, body))
    return open.promise
  }
}

function answer(status: number, text: string): ApiAnswer {
  return { status, headers: new Headers(), body: text, text }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { encodeFrame, kinds, roomCreateBody, roomJoinedBody } from '@guildhall/contract'
import type { Child } from '../processes/child.ts'
import { frameMessage } from './player.ts'
import type { WebSocketClient } from './websocket-client.ts'
import { startWindow, type Window } from './window.ts'

export type RoomChurn = { server: Child; players: readonly WebSocketClient[]; seconds: number }

/** Players that share a room by turns. */
const perRoom = 8
const map = 'churn'

/**
 * Every player joins a room, and leaves it once it is in; a room that all have left is made anew.
 * One answer to a join and one to a leave have fixed sizes, so that bytes give their number.
 */
export async function runRoomChurn({ server, players, seconds }: RoomChurn) {
  let done = 0
  for (const [index, player] of players.entries()) {
    const name = `${map}-${String(Math.floor(index / perRoom)).padStart(4, '0')}`
    const join = frameMessage(kinds.ROOM_CREATE.first, roomCreateBody.encode({ name }))
    const leave = frameMessage(kinds.ROOM_LEAVE.first, Buffer.alloc(8))
    const joined = roomJoinedBody.encode({ room_id: 1, map: name, mode: '' })
    // Both answers carry the id of the room; the one to a join also its label.
    const answers = [encodeFrame(kinds.ROOM_JOINED.first, joined).length, leaveBytes]
    const requests = [leave, join]
    let step = 0
    let received = 0
    player.onPayload = (piece) => {
      received += piece.length
      while (received >= (answers[step] ?? 0)) {
        received -= answers[step] ?? 0
        player.write(requests[step] ?? join)
        step = 1 - step
        done += 1
      }
    }
    player.write(join)
  }
  await sleep(seconds * 300)
  const before = done
  const end = startWindow(server)
  await sleep(seconds * 1000)
  const window: Window = end()
  const count = done - before
  for (const player of players) player.close()
  if (count === 0) throw new Error('nobody joined a room')
  return { ...window, perSecond: count / window.seconds }
}

/** The frame that answers a leave: length, kind and room id. */
const leaveBytes = 14

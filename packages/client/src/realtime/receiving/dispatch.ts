import {
  applicationKindMin,
  type ChatPush,
  type Envelope,
  kinds,
  type MatchmakerRemoved,
  type NotificationPush,
  noticeBody,
  type PartyPush,
  peerPositionBody,
} from '@guildhall/contract/wire'
import { GuildhallError } from '../../error.ts'
import type { Rooms } from '../../rooms/rooms.ts'
import type { Stats } from '../connection-types.ts'
import type { Part, Wire } from '../part.ts'
import { readJson } from '../sending/payload.ts'
import type { Inbox } from './inbox.ts'
import type { Reports } from './reports.ts'

export type DispatchDeps = {
  wire: Wire
  parts: readonly Part[]
  rooms: Rooms
  inbox: Inbox
  reports: Reports
  stats: Stats
}

/** Hands each envelope to the handler of its kind; unknown kinds are ignored. */
export function createDispatch({ wire, parts, rooms, inbox, reports, stats }: DispatchDeps) {
  const handlers: { [kind: number]: (body: Uint8Array) => void } = {
    [kinds.PEER_POSITION.first](body) {
      const { participant, position } = peerPositionBody.decode(body)
      reports.emit('position', { participant, bytes: position })
    },
    [kinds.CHAT_EVENT.first](body) {
      wire.push('chat', readJson(body) as ChatPush, body.length)
    },
    [kinds.NOTIFICATION.first](body) {
      const push = readJson(body) as NotificationPush | PartyPush | MatchmakerRemoved
      if (push.type === 'notification') wire.push('notification', push, body.length)
      else for (const part of parts) part.pushed?.(push, body.length)
    },
    [kinds.NOTICE.first]: (body) => reports.emit('notice', noticeBody.decode(body)),
  }
  for (const part of parts) Object.assign(handlers, part.handlers)

  return (envelope: Envelope): void => {
    const { kind, body } = envelope
    reports.emit('envelope', envelope)
    if (kind >= applicationKindMin) {
      inbox.take(kind, body, rooms.current)
      return
    }
    try {
      handlers[kind]?.(body)
    } catch (cause) {
      // Listeners never throw here, so it was the body.
      stats.malformed += 1
      const text = `a body of kind ${kind} could not be read`
      reports.emit('error', new GuildhallError('malformed_reply', text, { cause }))
    }
  }
}

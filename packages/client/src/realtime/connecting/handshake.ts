import {
  type AuthResult,
  authBody,
  authResultBody,
  type Envelope,
  encodeFrame,
  kinds,
  type RoomJoined,
  roomJoinedBody,
  type SessionInfo,
  sessionFlags,
  sessionInfoBody,
  sessionOptionsBody,
  WireError,
} from '@guildhall/contract/wire'
import type { Channel } from '../transports/channel.ts'

/** A channel whose player the server has accepted. */
export type Accepted = {
  channel: Channel
  /** Null for a guest. */
  userId: string | null
  info: SessionInfo
  /** The room that the player is in already. */
  joined: RoomJoined | null
  /** What arrived before the last part of the handshake, in order. */
  early: Envelope[]
}

/** Why a handshake did not end well; `code` is null when the connection ended without one. */
export type Refused = { code: number | null; reason: string; wasOpen: boolean }

export type HandshakeEvents = {
  accepted(accepted: Accepted): void
  refused(refused: Refused): void
  /** AUTH_RESULT is there, whatever it says. */
  answered(): void
}

/** The close codes that follow a rejecting AUTH_RESULT. */
const rejectionCodes = {
  authentication_failed: 4001,
  authentication_required: 4001,
  protocol_violation: 4003,
} as const

/**
 * Sends AUTH and SESSION_OPTIONS in one write and waits for AUTH_RESULT, SESSION_INFO and, if that
 * names a room, its ROOM_JOINED. Exactly one of `accepted` and `refused` is called, in the turn of
 * the envelope that decides.
 */
export function shakeHands(
  channel: Channel,
  { token, notices }: { token: string; notices: boolean },
  events: HandshakeEvents,
): void {
  let result: AuthResult | undefined
  let info: SessionInfo | undefined
  let wasOpen = false
  const early: Envelope[] = []

  channel.onOpen = () => {
    wasOpen = true
    channel.sendFrames(openingFrames(token, notices))
  }
  channel.onEnd = ({ code, reason }) => events.refused({ code, reason, wasOpen })
  channel.onEnvelope = (envelope) => {
    try {
      take(envelope)
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      refuse(4003, 'protocol error: handshake')
    }
  }

  function take(envelope: Envelope): void {
    if (envelope.kind === kinds.AUTH_RESULT.first && result === undefined) {
      result = authResultBody.decode(envelope.body)
      events.answered()
      if (result.status === 'rejected') refuse(rejectionCodes[result.reason], result.reason)
    } else if (envelope.kind === kinds.SESSION_INFO.first && info === undefined) {
      info = sessionInfoBody.decode(envelope.body)
      if (info.room_id === null) accept(null)
    } else if (envelope.kind === kinds.ROOM_JOINED.first && info !== undefined) {
      accept(roomJoinedBody.decode(envelope.body))
    } else {
      early.push(envelope)
    }
  }

  function accept(joined: RoomJoined | null): void {
    if (result === undefined || result.status === 'rejected' || info === undefined) {
      refuse(4003, 'protocol error: handshake')
      return
    }
    const userId = result.status === 'account' ? result.user_id : null
    events.accepted({ channel, userId, info, joined, early })
  }

  function refuse(code: number, reason: string): void {
    channel.drop(code === 4003 ? code : 1000)
    events.refused({ code, reason, wasOpen })
  }
}

/** What the SDK always asks for. */
export function baseFlags(notices: boolean): number {
  const { presence, presence_names, failures, notices: noticesBit } = sessionFlags
  return presence | presence_names | failures | (notices ? noticesBit : 0)
}

function openingFrames(token: string, notices: boolean): Uint8Array {
  const flags = baseFlags(notices)
  const auth = encodeFrame(kinds.AUTH.first, authBody.encode({ access_token: token }))
  const options = encodeFrame(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags }))
  const frames = new Uint8Array(auth.length + options.length)
  frames.set(auth)
  frames.set(options, auth.length)
  return frames
}

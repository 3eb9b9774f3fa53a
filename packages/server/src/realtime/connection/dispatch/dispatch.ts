import {
  applicationKindMin,
  authResultBody,
  type Envelope,
  kindRow,
  kinds,
  positionBytesMax,
  rpcRequestBody,
  sessionFlags,
  sessionInfoBody,
  sessionOptionsBody,
  WireError,
} from '@guildhall/contract'
import type { GatewayMetrics } from '../../metrics.ts'
import type { PositionRelay } from '../../play/participants/position-relay.ts'
import { sendSnapshot, versionFor } from '../../play/rooms/presence.ts'
import type { RoomRequests } from '../../play/rooms/requests/request-queue.ts'
import type { GameScript } from '../../ports.ts'
import { protocolError } from '../closing/closings.ts'
import type { LiveSession } from '../live/live-session.ts'
import { isBuiltIn } from '../rpc/built-in.ts'
import type { Notices } from './notices.ts'
import type { ServerTime } from './server-time.ts'

export type DispatchDeps = {
  metrics: GatewayMetrics
  script: GameScript
  notices: Notices
  maxEnvelopeBytes: number
  rpc(live: LiveSession, body: Uint8Array): void
  relayPosition: PositionRelay
  requests: RoomRequests
  serverTime: ServerTime
  /** Whether the client has come back to a seat and will be sent a snapshot anyway. */
  isReturning(live: LiveSession): boolean
}

/** `unreliable`: the envelope came as a datagram. */
type Handle = (live: LiveSession, envelope: Envelope, unreliable: boolean) => void

/** What happens to an envelope of a registered participant, by its kind. */
export function createDispatch(deps: DispatchDeps): Handle {
  const { metrics, notices } = deps
  const handlers = serviceKinds(deps)
  const toScript = scriptMessages(deps)
  return (live, envelope, unreliable) => {
    metrics.messages_in_total += 1
    const { kind } = envelope
    if (kind >= applicationKindMin) return toScript(live, envelope, unreliable)
    const handle = handlers[kind]
    const isWrongLane = unreliable && kind !== kinds.POSITION.first
    if (isWrongLane || kindRow(kind).direction === 'server') {
      metrics.wrong_direction_ignored_total += 1
      notices(live, 'wrong_direction', kind)
    } else if (handle === undefined) {
      metrics.reserved_kind_ignored_total += 1
      notices(live, 'reserved_kind', kind)
    } else {
      handle(live, envelope, unreliable)
    }
  }
}

/** Whether the script would be called for the envelope. */
export function isForScript(script: GameScript, { kind, body }: Envelope): boolean {
  if (kind === kinds.RPC_REQUEST.first) return isScriptCall(body)
  const mayBe = kind >= applicationKindMin || kind === kinds.POSITION.first
  return mayBe && script.handlesKind(kind)
}

/** A request that cannot be read is answered here, like one of a built-in method. */
function isScriptCall(body: Uint8Array): boolean {
  try {
    return !isBuiltIn(rpcRequestBody.decode(body).method)
  } catch (error) {
    if (error instanceof WireError) return false
    throw error
  }
}

/** The kinds below 100 that are spoken here; all others are reserved. */
function serviceKinds(deps: DispatchDeps): { readonly [kind: number]: Handle } {
  const { rpc, requests, serverTime } = deps
  const enter: Handle = (live, envelope) => requests.enter(live, envelope)
  return {
    [kinds.POSITION.first]: positions(deps),
    [kinds.RPC_REQUEST.first]: (live, { body }) => rpc(live, body),
    [kinds.AUTH.first]: repeatedAuth,
    [kinds.ROOM_CREATE.first]: enter,
    [kinds.ROOM_JOIN.first]: enter,
    [kinds.ROOM_ENTER.first]: enter,
    [kinds.ROOM_LEAVE.first]: (live) => requests.leave(live),
    // A loaded map needs no reply.
    [kinds.ROOM_MAP_READY.first]: () => {},
    [kinds.DIAG_CAPABILITIES.first]: serverTime.capabilities,
    [kinds.DIAG_CLOCK_SYNC.first]: serverTime.clockSync,
    [kinds.DIAG_STATUS.first]: serverTime.status,
    [kinds.SESSION_OPTIONS.first]: sessionOptions(deps),
  }
}

function repeatedAuth(live: LiveSession): void {
  const result = { status: 'rejected', reason: 'protocol_violation' } as const
  live.send(kinds.AUTH_RESULT.first, authResultBody.encode(result))
  live.end(protocolError('repeated auth'))
}

function sessionOptions(deps: DispatchDeps): Handle {
  const { notices, maxEnvelopeBytes, serverTime } = deps
  const known = Object.values(sessionFlags).reduce((all, flag) => all | flag, 0)
  return (live, { kind, body }) => {
    const { participant, client } = live
    const flags = flagsOf(body)
    if (flags === undefined) return notices(live, 'malformed_body', kind)
    const before = client.flags ?? 0
    const hadPresence = versionFor(live)
    client.flags = flags & known
    const info = {
      flags: client.flags,
      participant: participant.context.participant,
      room_id: participant.context.room_id,
      max_envelope_bytes: maxEnvelopeBytes,
    }
    live.send(kinds.SESSION_INFO.first, sessionInfoBody.encode(info))
    const hasNewPresence = versionFor(live) !== hadPresence && !deps.isReturning(live)
    if (hasNewPresence && participant.room) sendSnapshot(participant.room, live)
    if ((client.flags & ~before & sessionFlags.server_time) !== 0) serverTime.offer(live)
  }
}

function flagsOf(body: Uint8Array): number | undefined {
  try {
    return sessionOptionsBody.decode(body).flags
  } catch (error) {
    if (error instanceof WireError) return undefined
    throw error
  }
}

function positions(deps: DispatchDeps): Handle {
  const { metrics, script, notices, relayPosition } = deps
  const toScript = scriptMessages(deps)
  return (live, envelope, unreliable) => {
    const { kind, body } = envelope
    if (body.length === 0 || body.length > positionBytesMax) {
      notices(live, 'malformed_body', kind)
    } else if (script.handlesKind(kind)) {
      toScript(live, envelope, unreliable)
    } else if (!relayPosition(live.participant, body)) {
      metrics.unhandled_kind_total += 1
      notices(live, 'no_handler', kind)
    }
  }
}

function scriptMessages({ metrics, script, notices }: DispatchDeps): Handle {
  return (live, { kind, body }, unreliable) => {
    if (!script.handlesKind(kind)) {
      metrics.unhandled_kind_total += 1
      notices(live, script.serving() ? 'no_handler' : 'script_unavailable', kind)
      return
    }
    const message = { kind, body, unreliable }
    const { context } = live.participant
    live.client.messagesOpen += 1
    script.message(context, message, (outcome) => {
      live.client.messagesOpen -= 1
      live.messageSettled()
      if (outcome === 'failed') notices(live, 'handler_failed', kind)
      if (outcome === 'unavailable') notices(live, 'script_unavailable', kind)
    })
  }
}

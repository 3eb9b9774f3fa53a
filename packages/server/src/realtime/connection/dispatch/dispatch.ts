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
} from '@guildhall/contract'
import { decoded } from '../../../kernel/play/decoded.ts'
import { isBuiltIn } from '../../built-in-methods.ts'
import type { GatewayMetrics } from '../../metrics.ts'
import type { Place, PlayPort, ScriptState } from '../../play.port.ts'
import { protocolError } from '../closing/closings.ts'
import type { LiveConnection } from '../live/live-connection.ts'
import type { Notices } from './notices.ts'
import type { ServerTime } from './server-time.ts'

export type DispatchDeps = {
  metrics: GatewayMetrics
  play: PlayPort
  notices: Notices
  maxEnvelopeBytes: number
  rpc(live: LiveConnection, body: Uint8Array): void
  serverTime: ServerTime
}

/** `unreliable`: the envelope came as a datagram. */
type Handle = (live: LiveConnection, envelope: Envelope, unreliable: boolean) => void

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
export function isForScript(
  script: Pick<ScriptState, 'handlesKind'>,
  { kind, body }: Envelope,
  { room_id }: Pick<Place, 'room_id'>,
): boolean {
  if (kind === kinds.RPC_REQUEST.first) return isScriptCall(body)
  const mayBe = kind >= applicationKindMin || kind === kinds.POSITION.first
  return mayBe && script.handlesKind(kind, room_id)
}

/** A request that cannot be read is answered here, like one of a built-in method. */
function isScriptCall(body: Uint8Array): boolean {
  const request = decoded(rpcRequestBody, body)
  return request !== undefined && !isBuiltIn(request.method)
}

/** The kinds below 100 that are spoken here; all others are reserved. */
function serviceKinds(deps: DispatchDeps): { readonly [kind: number]: Handle } {
  const { rpc, play, serverTime } = deps
  const request: Handle = (live, envelope) => play.request(live.participant, envelope)
  return {
    [kinds.POSITION.first]: positions(deps),
    [kinds.RPC_REQUEST.first]: (live, { body }) => rpc(live, body),
    [kinds.AUTH.first]: repeatedAuth,
    [kinds.ROOM_CREATE.first]: request,
    [kinds.ROOM_JOIN.first]: request,
    [kinds.ROOM_ENTER.first]: request,
    [kinds.ROOM_LEAVE.first]: request,
    // A loaded map needs no reply.
    [kinds.ROOM_MAP_READY.first]: () => {},
    [kinds.DIAG_CAPABILITIES.first]: serverTime.capabilities,
    [kinds.DIAG_CLOCK_SYNC.first]: serverTime.clockSync,
    [kinds.DIAG_STATUS.first]: serverTime.status,
    [kinds.SESSION_OPTIONS.first]: sessionOptions(deps),
  }
}

function repeatedAuth(live: LiveConnection): void {
  const result = { status: 'rejected', reason: 'protocol_violation' } as const
  live.send(kinds.AUTH_RESULT.first, authResultBody.encode(result))
  live.end(protocolError('repeated auth'))
}

function sessionOptions(deps: DispatchDeps): Handle {
  const { notices, maxEnvelopeBytes, serverTime } = deps
  const known = Object.values(sessionFlags).reduce((all, flag) => all | flag, 0)
  return (live, { kind, body }) => {
    const wanted = decoded(sessionOptionsBody, body)?.flags
    if (wanted === undefined) return notices(live, 'malformed_body', kind)
    const { participant, client, place } = live
    const before = client.flags ?? 0
    const flags = wanted & known
    const info = {
      flags,
      participant,
      room_id: place.room_id,
      max_envelope_bytes: maxEnvelopeBytes,
      last_close: client.lastClose,
    }
    client.lastClose = null
    live.send(kinds.SESSION_INFO.first, sessionInfoBody.encode(info))
    live.setFlags(flags)
    if ((flags & ~before & sessionFlags.server_time) !== 0) serverTime.offer(live)
  }
}

function positions(deps: DispatchDeps): Handle {
  const { play, notices } = deps
  const toScript = scriptMessages(deps)
  return (live, envelope, unreliable) => {
    const { kind, body } = envelope
    if (body.length === 0 || body.length > positionBytesMax) {
      notices(live, 'malformed_body', kind)
    } else if (live.place.elsewhere !== true && play.script.handlesKind(kind, live.place.room_id)) {
      toScript(live, envelope, unreliable)
    } else {
      play.position(live.participant, body)
    }
  }
}

function scriptMessages({ metrics, play, notices }: DispatchDeps): Handle {
  const { script } = play
  return (live, { kind, body }, unreliable) => {
    if (live.place.elsewhere !== true && !script.handlesKind(kind, live.place.room_id)) {
      metrics.unhandled_kind_total += 1
      notices(live, script.serving() ? 'no_handler' : 'script_unavailable', kind)
      return
    }
    live.client.messagesOpen += 1
    play.message(live.participant, { kind, body, unreliable })
  }
}

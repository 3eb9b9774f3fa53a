import { kinds, type MatchmakerMatched } from '@guildhall/contract'
import type { Clock } from '../../../../kernel/clock.ts'
import { createDeadlineQueue } from '../../../../kernel/time/deadline-queue.ts'
import { outgoingFrame } from '../../../frames/outgoing-frame.ts'
import type { AccountKey } from '../../accounts.port.ts'
import type { Room } from '../../rooms/room.ts'
import type { Rooms } from '../../rooms/rooms.ts'
import type { Handoff, Ticket } from '../tickets/ticket.ts'
import type { Recipients } from './match-order.ts'

/** The tokens by which matched players enter their room. Each holds a place in it. */
export type Handoffs = {
  /**
   * Gives an account its token for a place that is held, and sends it to its connections. Without a
   * connection, or when the room has ended, it gets none, and the place is free again.
   */
  give(ticket: Ticket, account: AccountKey, room: Room, to: Recipients): void
  /** Keeps a token that another node has made, and sends it to the account's connections. */
  pass(ticket: Ticket, made: MadeElsewhere, to: Recipients): void
  /** Takes over a token of which its account knows. */
  keep(ticket: Ticket, made: MadeElsewhere): void
  /** Uses the token of a room of this node; undefined for every other. */
  use(token: string): Handoff | undefined
  release(handoff: Handoff): void
}

/** A token of a room of another node. */
type MadeElsewhere = { account: AccountKey; token: string; room_id: number; ttl_ms: number }

export type HandoffsDeps = {
  clock: Clock
  rooms: Rooms
  ttlMs: number
  /** Secure random bytes. */
  randomness(size: number): Buffer
  /** A token was not used in time. */
  expired(handoff: Handoff): void
}

const tokenBytes = 32

export function createHandoffs(deps: HandoffsDeps): Handoffs {
  const { clock, rooms, ttlMs } = deps
  const valid = new Map<string, Handoff>()
  const deadlines = createDeadlineQueue<Handoff>({ clock, delayMs: ttlMs }, (handoff) => {
    valid.delete(handoff.token)
    handoff.state = 'expired'
    deps.expired(handoff)
    release(handoff)
  })

  function release({ room: { id } }: Handoff): void {
    const room = rooms.byId(id)
    if (room !== undefined) rooms.releasePlace(room)
  }

  function add(handoff: Handoff): void {
    const { ticket } = handoff
    ticket.handoffs = [...ticket.handoffs, handoff]
    deadlines.add(handoff)
  }

  function keep(ticket: Ticket, { account, token, room_id, ttl_ms }: MadeElsewhere): Handoff {
    const room = { id: room_id, phase: 'opened' } as const
    const expiresAtUnixMs = clock.nowUnixMs() + Math.min(ttl_ms, ttlMs)
    const handoff: Handoff = { token, ticket, account, room, expiresAtUnixMs, state: 'valid' }
    add(handoff)
    return handoff
  }

  function send(handoff: Handoff, to: Recipients): void {
    const frame = outgoingFrame(kinds.MATCHMAKER_MATCHED.first, matchedBody(handoff))
    to.deliver(handoff.account, frame)
  }

  return {
    give(ticket, account, room, to) {
      if (!to.isOnline(account) || room.phase === 'ended') return rooms.releasePlace(room)
      const token = deps.randomness(tokenBytes).toString('base64url')
      const expiresAtUnixMs = clock.nowUnixMs() + ttlMs
      const handoff: Handoff = { token, ticket, account, room, expiresAtUnixMs, state: 'valid' }
      valid.set(token, handoff)
      add(handoff)
      send(handoff, to)
    },
    pass(ticket, made, to) {
      if (to.isOnline(made.account)) send(keep(ticket, made), to)
    },
    keep: (ticket, made) => void keep(ticket, made),
    use(token) {
      const handoff = valid.get(token)
      if (handoff === undefined || handoff.room.phase === 'ended') return undefined
      valid.delete(token)
      deadlines.remove(handoff)
      handoff.state = 'used'
      return handoff
    },
    release,
  }
}

function matchedBody({ ticket, room, token, expiresAtUnixMs }: Handoff): Uint8Array {
  const matched: MatchmakerMatched = {
    ticket_id: ticket.id,
    match_id: room.id,
    join_token: token,
    expires_at: expiresAtUnixMs,
  }
  return new TextEncoder().encode(JSON.stringify(matched))
}

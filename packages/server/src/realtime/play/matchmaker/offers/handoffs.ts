import { kinds, type MatchmakerMatched } from '@guildhall/contract'
import type { Clock } from '../../../../kernel/clock.ts'
import { createDeadlineQueue } from '../../../../kernel/time/deadline-queue.ts'
import { outgoingFrame } from '../../../frames/outgoing-frame.ts'
import type { AccountKey, Accounts } from '../../accounts.port.ts'
import type { Room } from '../../rooms/room.ts'
import type { Rooms } from '../../rooms/rooms.ts'
import { type Handoff, isGood, type Ticket } from '../tickets/ticket.ts'

/** The tokens by which matched players enter their room. Each holds a place in it. */
export type Handoffs = {
  /**
   * Gives an account its token for a place that is held, and sends it to its connections. Without a
   * connection, or when the room has ended, it gets none, and the place is free again.
   */
  give(ticket: Ticket, account: AccountKey, room: Room): void
  /** The valid token of an account; undefined for every other. */
  find(found: { token: string; ticketId: string; account: AccountKey }): Handoff | undefined
  /** Uses a token; its place is held until `release`. */
  use(handoff: Handoff): void
  release(handoff: Handoff): void
}

export type HandoffsDeps = {
  clock: Clock
  rooms: Rooms
  accounts: Accounts
  ttlMs: number
  /** Secure random bytes. */
  randomness(size: number): Buffer
  /** A token was not used in time. */
  expired(handoff: Handoff): void
}

const tokenBytes = 32

export function createHandoffs(deps: HandoffsDeps): Handoffs {
  const { clock, rooms, accounts, ttlMs } = deps
  const valid = new Map<string, Handoff>()
  const deadlines = createDeadlineQueue<Handoff>({ clock, delayMs: ttlMs }, (handoff) => {
    valid.delete(handoff.token)
    handoff.state = 'expired'
    deps.expired(handoff)
    rooms.releasePlace(handoff.room)
  })

  return {
    give(ticket, account, room) {
      if (!accounts.isOnline(account) || room.phase === 'ended') return rooms.releasePlace(room)
      const token = deps.randomness(tokenBytes).toString('base64url')
      const expiresAtUnixMs = clock.nowUnixMs() + ttlMs
      const handoff: Handoff = { token, ticket, account, room, expiresAtUnixMs, state: 'valid' }
      ticket.handoffs = [...ticket.handoffs, handoff]
      valid.set(token, handoff)
      deadlines.add(handoff)
      accounts.deliver(account, outgoingFrame(kinds.MATCHMAKER_MATCHED.first, matchedBody(handoff)))
    },
    find({ token, ticketId, account }) {
      const handoff = valid.get(token)
      if (handoff === undefined || !isGood(handoff)) return undefined
      const isTheirs = handoff.ticket.id === ticketId && handoff.account === account
      return isTheirs ? handoff : undefined
    },
    use(handoff) {
      valid.delete(handoff.token)
      deadlines.remove(handoff)
      handoff.state = 'used'
    },
    release: ({ room }) => rooms.releasePlace(room),
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

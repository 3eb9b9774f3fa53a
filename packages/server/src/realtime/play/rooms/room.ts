import type { RoomMember } from '@guildhall/contract'
import type { RoomTraffic, SavedState } from '../../../kernel/play/room-commands.ts'
import type { BoundMatch } from '../../../kernel/play/room-hooks.ts'
import type { Label, OpenRoom, ScriptBinding } from '../../../kernel/play/rooms.ts'
import type { OutgoingFrame } from '../../frames/outgoing-frame.ts'
import type { Member, PresenceVersion } from './member.ts'

/**
 * A live group of participants. Who is in it changes by `Rooms` only, so that members, counts and
 * match events agree.
 */
export class Room {
  readonly id: number
  readonly matchId: string
  readonly name: string | null
  readonly binding: ScriptBinding | null
  label: Label
  /** What keeps its state, if it has one, and the newest state that the node has. */
  state: { readonly definition: string; saved: SavedState | undefined } | undefined
  /** Replaced as a whole when it changes, so that a broadcast may lose members while it runs. */
  members: readonly Member[] = []
  #sortedMembers: readonly Member[] = this.members
  #byId: readonly Member[] = []
  #presenceFrames: Record<PresenceVersion, OutgoingFrame[]> = { 1: [], 2: [] }
  /** Places that valid handoff tokens hold. */
  heldPlaces = 0
  /** `opened` raised `created`, `started` has had its first member, `ended` is no room any more. */
  phase: 'new' | 'opened' | 'started' | 'ended' = 'new'
  openedAtUnixMs = 0
  /** Messages and positions that members have sent. */
  messages = 0
  /** The server is closing it: members go, and nobody is sent notices of the others. */
  closing = false

  constructor(made: {
    id: number
    matchId: string
    name: string | null
    binding: ScriptBinding | null
    label: Label
  }) {
    this.id = made.id
    this.matchId = made.matchId
    this.name = made.name
    this.binding = made.binding
    this.label = made.label
  }

  isFull(membersMax: number): boolean {
    const places = this.members.length + this.heldPlaces
    const { max_players } = this.label
    return places >= membersMax || (max_players > 0 && places >= max_players)
  }

  row(): OpenRoom {
    return {
      ...this.label,
      room_id: this.id,
      match_id: this.matchId,
      name: this.name,
      players: this.members.length,
      binding: this.binding,
    }
  }

  traffic(): RoomTraffic {
    const { matchId, openedAtUnixMs, messages } = this
    return { match_id: matchId, opened_at_unix_ms: openedAtUnixMs, messages_total: messages }
  }

  memberRows(): RoomMember[] {
    return this.membersById().map(({ context, isConnected }) => ({
      participant: context.participant,
      user_id: context.user_id,
      username: context.username,
      connected: isConnected,
    }))
  }

  /** The members by participant, the same list as long as they are the same. */
  membersById(): readonly Member[] {
    if (this.#sortedMembers !== this.members) {
      this.#sortedMembers = this.members
      this.#byId = this.members.toSorted((a, b) => a.context.participant - b.context.participant)
      this.forgetPresence()
    }
    return this.#byId
  }

  /** The parts of the snapshot of the present members, as far as they are encoded. */
  presenceFrames(version: PresenceVersion): OutgoingFrame[] {
    return this.#presenceFrames[version]
  }

  /** A member has dropped or returned, which later snapshots show. */
  forgetPresence(): void {
    this.#presenceFrames = { 1: [], 2: [] }
  }

  matchContext(): BoundMatch {
    const { map, mode, max_players, open } = this.label
    return {
      room_id: this.id,
      match_id: this.matchId,
      name: this.name,
      map,
      mode,
      max_players,
      open,
      participants: this.members.length,
      binding: this.binding,
    }
  }
}

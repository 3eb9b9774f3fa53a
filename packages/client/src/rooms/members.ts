import type { Departure, PresenceEntry, RoomPresence } from '@guildhall/contract/wire'
import type { Member } from './room-types.ts'

/** What a change of the members is called. */
export type MemberChange =
  | { event: 'join' | 'drop' | 'return'; member: Member }
  | { event: 'leave'; member: Member; departure: Departure }

/** The members of one room, as kind 46 says. */
export class Members {
  readonly #byParticipant = new Map<number, Member>()
  /** The parts of a snapshot whose last one has not come. */
  #snapshot: PresenceEntry[] = []

  constructor(self: Member) {
    this.#byParticipant.set(self.participant, self)
  }

  get all(): ReadonlyMap<number, Member> {
    return this.#byParticipant
  }

  /** The link is lost: the next one sends all parts anew. */
  dropParts(): void {
    this.#snapshot = []
  }

  /** Takes a notice or a part of a snapshot, and returns what has changed. */
  apply({ event, entries, more }: RoomPresence): MemberChange[] {
    if (event !== 'snapshot') return entries.flatMap((entry) => this.#changeBy(event, entry))
    this.#snapshot.push(...entries)
    if (more) return []
    const whole = this.#snapshot
    this.#snapshot = []
    return this.#replaceBy(whole)
  }

  #changeBy(event: Exclude<RoomPresence['event'], 'snapshot'>, entry: PresenceEntry) {
    if (event !== 'left') return this.#put(memberOf(entry))
    const member = this.#byParticipant.get(entry.participant)
    if (member === undefined) return []
    this.#byParticipant.delete(entry.participant)
    const departure = entry.reason === null || entry.reason === 'dropped' ? 'left' : entry.reason
    return [{ event: 'leave', member, departure } as const]
  }

  #replaceBy(entries: readonly PresenceEntry[]): MemberChange[] {
    const present = new Set(entries.map(({ participant }) => participant))
    const gone = [...this.#byParticipant.values()].filter((member) => {
      return !present.has(member.participant)
    })
    for (const { participant } of gone) this.#byParticipant.delete(participant)
    return [
      ...gone.map((member) => ({ event: 'leave', member, departure: 'left' }) as const),
      ...entries.flatMap((entry) => this.#put(memberOf(entry))),
    ]
  }

  #put(member: Member): MemberChange[] {
    const before = this.#byParticipant.get(member.participant)
    this.#byParticipant.set(member.participant, member)
    if (before === undefined) return [{ event: 'join', member }]
    if (before.connected === member.connected) return []
    return [{ event: member.connected ? 'return' : 'drop', member }]
  }
}

function memberOf({ participant, user_id, username, reason }: PresenceEntry): Member {
  return { participant, user_id, username, connected: reason !== 'dropped' }
}

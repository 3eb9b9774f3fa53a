import type { Timer } from '../../../kernel/clock.ts'

/** Somebody who was asked, or asks, to join. */
export type Pending = {
  readonly party: Party
  readonly userId: string
  /** As players see it. */
  readonly expiresAtUnixMs: number
  /** When it expires, by the clock of this node that does not jump. */
  readonly dueMs: number
  readonly timer: Timer
}

/** `isAbsent`: without a connection, and about to leave for that. */
export type Member = { readonly userId: string; username: string; isAbsent?: boolean }

/**
 * Players who want to play together. Names are those that were last heard of; the members stand in
 * the order in which they joined, the pending ones oldest first.
 */
export class Party {
  readonly id: string
  leader: string
  open: boolean
  readonly members = new Map<string, Member>()
  readonly invitations = new Map<string, Pending>()
  readonly requests = new Map<string, Pending>()
  revision = 0
  presenceSequence = 0

  constructor(id: string, leader: Member, open: boolean) {
    this.id = id
    this.leader = leader.userId
    this.open = open
    this.members.set(leader.userId, leader)
  }

  /** Open invitations hold a place. */
  isFull(membersMax: number): boolean {
    return this.members.size + this.invitations.size >= membersMax
  }

  /** Everybody whose name the reply shows. */
  everybody(): string[] {
    return [...this.members.keys(), ...this.invitations.keys(), ...this.requests.keys()]
  }
}

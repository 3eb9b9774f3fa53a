import type { Party } from './party.ts'

/** Nodes of the version before `left_ms` do not say it. */
export type PendingRecord = { user_id: string; expires_at: number; left_ms?: number | undefined }

/** A party as it passes from node to node; one without members is over. */
export type PartyRecord = {
  id: string
  /** Of two records of a party the one with the higher revision is the newer one. */
  revision: number
  presence_sequence: number
  leader: string
  open: boolean
  members: { user_id: string; username: string }[]
  invitations: PendingRecord[]
  requests: PendingRecord[]
}

export function recordOfParty(party: Party, nowMs: number): PartyRecord {
  const { id, revision, presenceSequence, leader, open } = party
  const pending = (of: Party['requests']) =>
    Array.from(of.values(), ({ userId, expiresAtUnixMs, dueMs }) => {
      const left_ms = Math.max(0, Math.round(dueMs - nowMs))
      return { user_id: userId, expires_at: expiresAtUnixMs, left_ms }
    })
  return {
    ...{ id, revision, leader, open },
    presence_sequence: presenceSequence,
    members: Array.from(party.members.values(), ({ userId, username }) => {
      return { user_id: userId, username }
    }),
    invitations: pending(party.invitations),
    requests: pending(party.requests),
  }
}

import type { Registry } from './registry.ts'

/** Who plays here, as what records the timing of connections asks for it. */
export type KnownPlayers = {
  /** Undefined for who is not connected. */
  find(participant: number): KnownPlayer | undefined
  /** The connected participants of an account, the longest connected first. */
  ofAccount(userId: string): readonly number[]
  /** The connected members of a room, and its match; undefined when there is no such room. */
  ofRoom(roomId: number): { match_id: string; participants: readonly number[] } | undefined
}

type KnownPlayer = {
  participant: number
  user_id: string | null
  session_id: string | null
  room_id: number | null
}

export function createKnownPlayers(registry: Registry): KnownPlayers {
  return {
    find(participant) {
      const known = registry.byId(participant)
      if (known?.isConnected !== true) return undefined
      const { context, session_id } = known
      const { user_id, room_id } = context
      return { participant, user_id, session_id, room_id }
    },
    ofAccount: (userId) =>
      Array.from(registry.byUser(userId), ({ context }) => context.participant),
    ofRoom(roomId) {
      const members = Iterator.from(registry.participants())
        .filter(({ context }) => context.room_id === roomId)
        .toArray()
      const match_id = members[0]?.context.match_id ?? null
      if (match_id === null) return undefined
      const connected = members.filter(({ isConnected }) => isConnected)
      return { match_id, participants: connected.map(({ context }) => context.participant) }
    },
  }
}

import type { LagCapture } from '@guildhall/contract'
import { useRead } from '../../data/reads.ts'
import { UserLink } from '../../kit/text/links.tsx'

/** Accounts by participant, as far as a room that is still there knows them. */
type Players = ReadonlyMap<number, string>

const nobody: Players = new Map()

/** Recordings hold no account: who it was is known as long as the room of the match goes on. */
export function usePlayers({ match_id }: LagCapture): Players {
  const players = useRead(
    ['matches', 'players', match_id],
    async (client) => {
      if (match_id === null) return nobody
      const { record } = await client.matchRecords.entries({
        params: { match_id },
        query: { limit: 1 },
      })
      if (!record.open) return nobody
      const { members } = await client.matches.get({ params: { id: String(record.room_id) } })
      return new Map(
        members.flatMap(({ participant, user_id }): [number, string][] =>
          user_id === null ? [] : [[participant, user_id]],
        ),
      )
    },
    { enabled: match_id !== null },
  )
  return players.data ?? nobody
}

export function PlayerName({ participant, players }: { participant: number; players: Players }) {
  const id = players.get(participant)
  return (
    <span className="row">
      <span>participant {participant}</span>
      {id !== undefined && <UserLink id={id} />}
    </span>
  )
}

import type { ConsoleClient } from '@guildhall/client/console'
import type { LiveRoom, MatchmakerTotals } from '@guildhall/contract'
import { grouped } from '../../../model/time.ts'
import { useQueryPart } from '../../data/location.ts'
import { useOpenedPath } from '../../data/opened.ts'
import { restful } from '../../data/pace.ts'
import { useRead, wholeListing } from '../../data/reads.ts'
import { useRestful } from '../../data/resting.ts'
import { Section } from '../../kit/section.tsx'
import { Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { FilterInput } from '../../kit/table/filter.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { playersOf, RoomPane } from './room-pane.tsx'

const columns: readonly Column<LiveRoom>[] = [
  { key: 'id', head: 'Room', width: 72, align: 'number', cell: ({ id }) => id },
  {
    key: 'name',
    head: 'Name',
    cell: ({ name }) => (name === null ? <None>unnamed</None> : <Text>{name}</Text>),
  },
  { key: 'map', head: 'Map', cell: ({ map }) => <Text>{map}</Text>, wide: true },
  { key: 'mode', head: 'Mode', cell: ({ mode }) => <Text>{mode}</Text>, wide: true },
  {
    key: 'players',
    head: 'Players',
    width: 100,
    align: 'number',
    cell: playersOf,
    sort: (a, b) => a.players - b.players,
  },
  {
    key: 'open',
    head: 'Open',
    width: 90,
    cell: ({ open }) => <Badge tone={open ? 'ok' : 'none'}>{open ? 'open' : 'closed'}</Badge>,
  },
]

/** Where several nodes play together. */
const nodeColumn: Column<LiveRoom> = {
  key: 'node',
  head: 'Node',
  cell: ({ node_id = '' }) => <Text>{node_id}</Text>,
  wide: true,
}

type Listed = Awaited<ReturnType<ConsoleClient['matches']['list']>>

export function RoomsPage() {
  const [filter, setFilter] = useQueryPart('filter')
  const opened = useOpenedPath('/rooms')
  const everyMs = useRestful(
    opened.key === undefined ? restful.rooms : restful.roomsBeside,
    ({ rooms }: Listed) => rooms,
  )
  const rooms = useRead(
    ['matches', filter],
    (client) => client.matches.list({ query: { filter, limit: 500 } }),
    { everyMs, keep: true },
  )
  const isOfSeveral = rooms.data?.nodes_missing !== undefined
  return (
    <Section
      title="Rooms"
      label="Rooms"
      columns={isOfSeveral ? [...columns, nodeColumn] : columns}
      listing={wholeListing(rooms, rooms.data?.rooms)}
      rowKey={(room) => String(room.id)}
      opened={opened}
      tools={
        <>
          <FilterInput
            label="Part of a name, map or mode"
            value={filter}
            onValue={setFilter}
            isMain={true}
          />
          <Matchmaker totals={rooms.data?.matchmaker ?? null} />
        </>
      }
      pane={({ key, close }) => <RoomPane id={key} onClose={close} />}
      empty={<NoRooms isAttached={rooms.data?.realtime_attached ?? false} />}
      foot={rooms.data && `${grouped(rooms.data.rooms.length)} of ${grouped(rooms.data.total)}`}
    />
  )
}

function NoRooms({ isAttached }: { isAttached: boolean }) {
  if (!isAttached) return <Empty title="No real-time play on this node" />
  return <Empty title="No rooms are open">Players and scripts open them.</Empty>
}

/** What the matchmaker has done since the start of the node. */
function Matchmaker({ totals }: { totals: MatchmakerTotals | null }) {
  if (totals === null) return null
  const { queued_tickets, matches_formed_total, tickets_formed_total } = totals
  const { tickets_cancelled_total, tickets_expired_total } = totals
  return (
    <p className="small muted">
      Matchmaker: {grouped(queued_tickets)} waiting, {grouped(tickets_formed_total)} tickets in{' '}
      {grouped(matches_formed_total)} matches, {grouped(tickets_cancelled_total)} cancelled,{' '}
      {grouped(tickets_expired_total)} expired; {passTime(totals)} per pass
    </p>
  )
}

function passTime({ evaluations_total, evaluation_duration_us_total }: MatchmakerTotals): string {
  const us = evaluations_total === 0 ? 0 : evaluation_duration_us_total / evaluations_total
  return `${(us / 1000).toFixed(1)} ms`
}

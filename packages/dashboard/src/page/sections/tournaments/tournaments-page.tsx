import { api, type Tournament } from '@guildhall/contract'
import { Link } from '@tanstack/react-router'
import { useOpenedPath } from '../../data/opened.ts'
import { byLength, pace } from '../../data/pace.ts'
import { useRead, wholeListing } from '../../data/reads.ts'
import { Section } from '../../kit/section.tsx'
import { Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'
import { DraftTournament } from './draft-tournament.tsx'
import { TournamentPane } from './tournament-pane.tsx'
import { TournamentState } from './tournament-state.tsx'

const columns: readonly Column<Tournament>[] = [
  {
    key: 'id',
    head: 'Tournament',
    cell: ({ id }) => <Text>{id}</Text>,
    sort: (a, b) => (a.id < b.id ? -1 : 1),
  },
  {
    key: 'state',
    head: 'State',
    width: 210,
    cell: TournamentState,
    sort: (a, b) => a.state.localeCompare(b.state),
  },
  {
    key: 'board',
    head: 'Board',
    wide: true,
    cell: ({ leaderboard_id }) => (
      <Link to="/leaderboards/$id" params={{ id: leaderboard_id }}>
        <Text>{leaderboard_id}</Text>
      </Link>
    ),
  },
  {
    key: 'starts',
    medium: true,
    head: 'Starts',
    width: 110,
    cell: ({ starts_at_unix_ms }) => <Time at={starts_at_unix_ms} />,
    sort: (a, b) => a.starts_at_unix_ms - b.starts_at_unix_ms,
  },
  {
    key: 'ends',
    medium: true,
    head: 'Ends',
    width: 110,
    cell: ({ ends_at_unix_ms }) => <Time at={ends_at_unix_ms} />,
    sort: (a, b) => a.ends_at_unix_ms - b.ends_at_unix_ms,
  },
]

export function TournamentsPage() {
  const all = useRead(['tournaments', 'list'], (client) => client.tournaments.list({}), {
    everyMs: (read) => byLength(pace.calm, read?.items),
  })
  return (
    <Section
      title="Tournaments"
      label="Tournaments"
      columns={columns}
      listing={wholeListing(all, all.data?.items)}
      rowKey={(tournament) => tournament.id}
      opened={useOpenedPath('/tournaments')}
      pane={({ key, close }) => <TournamentPane id={key} onClose={close} />}
      empty={<Empty title="No tournaments yet" />}
      add={{
        route: api.tournaments.create,
        label: 'New tournament',
        form: (close) => <DraftTournament onClose={close} />,
      }}
    />
  )
}

import { api, type Tournament } from '@guildhall/contract'
import { Link, useNavigate } from '@tanstack/react-router'
import { usePathPart, useQueryPart } from '../../data/location.ts'
import { pace } from '../../data/pace.ts'
import { useMay } from '../../data/permissions.ts'
import { useRead, wholeListing } from '../../data/reads.ts'
import { NewButton, Page, Split } from '../../kit/page.tsx'
import { Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
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
  const id = usePathPart('id')
  const [isNew, setNew] = useQueryPart('new')
  const navigate = useNavigate()
  const mayCreate = useMay(api.tournaments.create)
  const all = useRead(['tournaments', 'list'], (client) => client.tournaments.list({}), {
    everyMs: pace.calm,
  })
  const list = (
    <DataTable
      label="Tournaments"
      columns={columns}
      listing={wholeListing(all, all.data?.items)}
      rowKey={(tournament) => tournament.id}
      openKey={id}
      onOpen={(tournament) =>
        void navigate({ to: '/tournaments/$id', params: { id: tournament.id } })
      }
      empty={<Empty title="No tournaments yet" />}
    />
  )
  const close = () => void navigate({ to: '/tournaments' })
  return (
    <Page
      title="Tournaments"
      actions={mayCreate && <NewButton onNew={() => setNew('yes')}>New tournament</NewButton>}
    >
      <Split list={list} pane={id && <TournamentPane key={id} id={id} onClose={close} />} />
      {isNew && mayCreate && <DraftTournament onClose={() => setNew('')} />}
    </Page>
  )
}

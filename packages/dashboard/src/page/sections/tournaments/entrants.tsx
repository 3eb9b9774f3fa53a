import type { ConsoleClient } from '@guildhall/client/console'
import type { TournamentState } from '@guildhall/contract'
import { grouped } from '../../../model/time.ts'
import { useRead, wholeListing } from '../../data/reads.ts'
import { ExportButton } from '../../kit/export/export-dialog.tsx'
import { exportOf } from '../../kit/export/export-run.ts'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { UserLink } from '../../kit/text/links.tsx'
import { None } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'

type Entry = Awaited<ReturnType<ConsoleClient['tournaments']['entries']>>['items'][number]
type Result = Awaited<ReturnType<ConsoleClient['tournaments']['results']>>['items'][number]

const entryColumns: readonly Column<Entry>[] = [
  { key: 'user', head: 'User', cell: ({ user_id }) => <UserLink id={user_id} /> },
  {
    key: 'time',
    head: 'Registered',
    width: 120,
    cell: ({ registered_at }) => <Time at={registered_at} />,
    sort: (a, b) => a.registered_at - b.registered_at,
  },
]

export function Entries({ id }: { id: string }) {
  const entries = useRead(['tournaments', 'entries', id], (client) =>
    client.tournaments.entries({ params: { id } }),
  )
  return (
    <section className="stack-tight" aria-label="Entries">
      <h3>Entries{entries.data && ` (${grouped(entries.data.total)})`}</h3>
      <DataTable
        label="Entries"
        columns={entryColumns}
        listing={wholeListing(entries, entries.data?.items)}
        rowKey={({ user_id }) => user_id}
        empty={<None>Nobody is registered. Players register through the game's script.</None>}
        inline={true}
      />
    </section>
  )
}

const resultColumns: readonly Column<Result>[] = [
  { key: 'rank', head: 'Rank', width: 70, align: 'number', cell: ({ rank }) => grouped(rank) },
  { key: 'user', head: 'User', cell: ({ user_id }) => <UserLink id={user_id} /> },
  { key: 'score', head: 'Score', align: 'number', cell: ({ score }) => grouped(score) },
  {
    key: 'subscore',
    head: 'Subscore',
    width: 110,
    align: 'number',
    cell: ({ subscore }) => grouped(subscore),
  },
]

const exported = {
  noun: ['result', 'results'],
  columns: ['rank', 'user_id', 'score', 'subscore', 'tournament_id'],
} as const

export function Results({ id, state }: { id: string; state: TournamentState }) {
  const results = useRead(['tournaments', 'results', id], (client) =>
    client.tournaments.results({ params: { id } }),
  )
  const listing = wholeListing(results, results.data?.items)
  const none = state === 'completed' ? 'No entrant had a record.' : 'There are none before the end.'
  return (
    <section className="stack-tight" aria-label="Results">
      <div className="row">
        <h3 className="grow">Results</h3>
        {listing.rows.length > 0 && (
          <ExportButton exported={exportOf(listing, { ...exported, file: `results-${id}` })} />
        )}
      </div>
      <DataTable
        label="Results"
        columns={resultColumns}
        listing={listing}
        rowKey={({ user_id }) => user_id}
        empty={<None>{none}</None>}
        inline={true}
      />
    </section>
  )
}

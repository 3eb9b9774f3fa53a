import type { ConsoleClient } from '@guildhall/client/console'
import { api, type LagCapture } from '@guildhall/contract'
import { useNavigate } from '@tanstack/react-router'
import { isLive, recorderWords } from '../../../model/lag.ts'
import { useQueryPart } from '../../data/location.ts'
import { byPages, pace } from '../../data/pace.ts'
import { useMay } from '../../data/permissions.ts'
import { usePages } from '../../data/reads.ts'
import { NewButton, Page } from '../../kit/page.tsx'
import { Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { FilterChoice, FilterInput } from '../../kit/table/filter.tsx'
import { DataTable } from '../../kit/table/table.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'
import { MatchLink } from '../logs/log-lines.tsx'
import { CaptureState, Outcome } from './lag-words.tsx'
import { StartCapture } from './start-capture.tsx'

const columns: readonly Column<LagCapture>[] = [
  {
    key: 'created',
    head: 'Started',
    width: 110,
    cell: ({ created_at_unix_ms }) => <Time at={created_at_unix_ms} />,
  },
  { key: 'label', head: 'Label', cell: ({ label }) => (label ? <Text>{label}</Text> : <None />) },
  { key: 'state', head: 'State', width: 110, cell: CaptureState },
  { key: 'recorders', medium: true, head: 'Recorders', width: 210, cell: recorderWords },
  {
    key: 'deadline',
    head: 'Deadline',
    width: 110,
    wide: true,
    cell: ({ deadline_unix_ms }) => <Time at={deadline_unix_ms} />,
  },
  {
    key: 'match',
    head: 'Match',
    width: 130,
    wide: true,
    cell: ({ match_id }) => (match_id === null ? <None /> : <MatchLink id={match_id} />),
  },
  {
    key: 'reports',
    head: 'Newest report',
    width: 130,
    cell: ({ latest_report_status: status }) =>
      status === null ? <None>none yet</None> : <Outcome status={status} />,
  },
]

const states = ['live', 'over'] as const

/** Captures of arrival times, newest first. */
export function LagPage() {
  const [label, setLabel] = useQueryPart('label')
  const [match, setMatch] = useQueryPart('match')
  const [state, setState] = useQueryPart('state')
  const [isNew, setNew] = useQueryPart('new', { pushes: true })
  const mayStart = useMay(api.runtime.rpc)
  const navigate = useNavigate()
  const listing = useLiveCaptures({ label, match, state })
  return (
    <Page
      title="Lag"
      actions={mayStart && <NewButton onNew={() => setNew('yes')}>Start capture</NewButton>}
    >
      <div className="page-tools">
        <FilterInput label="Label" value={label} onValue={setLabel} isMain={true} />
        <FilterInput label="Match id" value={match} onValue={setMatch} />
        <FilterChoice label="State" value={state} choices={states} onValue={setState} />
      </div>
      <DataTable
        label="Captures"
        columns={columns}
        listing={listing}
        rowKey={({ capture_id }) => capture_id}
        onOpen={({ capture_id }) => void navigate({ to: '/lag/$id', params: { id: capture_id } })}
        empty={<NoCaptures isFiltered={[label, match, state].some((part) => part !== '')} />}
      />
      {isNew && mayStart && <StartCapture onClose={() => setNew('')} />}
    </Page>
  )
}

type Filters = { label: string; match: string; state: string }

/** One that is not listed may become so: the list is read again also where none goes on. */
function useLiveCaptures({ label, match, state }: Filters) {
  const key = ['lag', 'captures', label, match, state] as const
  const read = async (client: ConsoleClient, after?: string) => {
    const query = {
      ...{ after, limit: 100, state: states.find((each) => each === state) },
      ...{ label: label || undefined, match_id: match || undefined },
    }
    const page = await client.lag.captures({ query })
    return { items: page.items, next: page.next_after }
  }
  return usePages(key, read, {
    everyMs(pages) {
      const isChanging = pages.some(({ items }) => items.some(isLive))
      return byPages(isChanging ? pace.captures : pace.calm, pages)
    },
  })
}

function NoCaptures({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No capture is like that" />
  return (
    <Empty title="No captures yet">
      A capture records when messages arrive at players who agree to it, never what they say.
    </Empty>
  )
}

import type { HostTelemetry, TelemetrySlice } from '@guildhall/contract'
import { useEffect, useState } from 'react'
import { bytesText, counted, duration, grouped } from '../../../model/time.ts'
import { useQueryPart } from '../../data/location.ts'
import { usePages, useRead } from '../../data/reads.ts'
import { Card, Page } from '../../kit/page.tsx'
import { Plot } from '../../kit/plot.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { FilterInput } from '../../kit/table/filter.tsx'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'
import { MatchLink } from '../logs/log-lines.tsx'

const everyMs = 2_000
const samplesMax = 150

export function TelemetryPage() {
  return (
    <Page title="Telemetry">
      <div className="page-scroll">
        <div className="stack">
          <Host />
          <Slices />
        </div>
      </div>
    </Page>
  )
}

type Sample = { atSec: number; cpu: number | null; used: number | null; own: number | null }

let samples: readonly Sample[] = []

function useSamples(data: HostTelemetry | undefined): readonly Sample[] {
  const [shown, setShown] = useState(samples)
  useEffect(() => {
    if (data === undefined) return
    const { cpu_usage_percent, memory } = data
    const sample = {
      atSec: performance.now() / 1000,
      cpu: cpu_usage_percent ?? null,
      used: memory === undefined ? null : memory.used_bytes / 1e9,
      own: memory === undefined ? null : memory.process_used_bytes / 1e9,
    }
    samples = [...samples, sample].slice(-samplesMax)
    setShown(samples)
  }, [data])
  return shown
}

function Host() {
  const host = useRead(['telemetry', 'host'], (desk) => desk.telemetry.host({}), { everyMs })
  const shown = useSamples(host.data)
  const now = performance.now() / 1000
  const times = shown.map(({ atSec }) => atSec - now)
  const { cpu_usage_percent, memory, storage } = host.data ?? {}
  const of = (pick: (sample: Sample) => number | null) => shown.map(pick)
  return (
    <div className="cards fit">
      <Card title="Processor" extra={<strong>{cpu_usage_percent ?? '–'} %</strong>}>
        <Plot
          label="Processor"
          times={times}
          series={[{ name: 'percent', values: of((s) => s.cpu) }]}
        />
      </Card>
      <Card title="Memory, GB" extra={memory && <MemoryWords memory={memory} />}>
        <Plot
          label="Memory"
          times={times}
          series={[
            { name: 'used', values: of(({ used }) => used) },
            { name: 'this node', values: of(({ own }) => own) },
          ]}
        />
      </Card>
      <Card title="Disks">
        {storage === undefined ? (
          <None>not known</None>
        ) : (
          <p>
            {bytesText(storage.used_bytes)} of {bytesText(storage.total_bytes)} used on{' '}
            {counted(storage.mounted_filesystems, 'file system')},{' '}
            {bytesText(storage.available_bytes)} free
          </p>
        )}
      </Card>
    </div>
  )
}

function MemoryWords({ memory }: { memory: NonNullable<HostTelemetry['memory']> }) {
  return (
    <span className="small muted">
      <span className="swatch">used </span>
      <strong>{bytesText(memory.used_bytes)}</strong> of {bytesText(memory.total_bytes)}{' '}
      <span className="swatch swatch-2">this node </span>
      <strong>{bytesText(memory.process_used_bytes)}</strong>
    </span>
  )
}

const columns: readonly Column<TelemetrySlice>[] = [
  {
    key: 'closed',
    head: 'Closed',
    width: 98,
    cell: ({ closed_at_unix_ms }) => <Time at={closed_at_unix_ms} />,
  },
  { key: 'kind', head: 'Context', cell: ({ context_kind }) => <Text>{context_kind}</Text> },
  {
    key: 'reason',
    head: 'Ended by',
    width: 120,
    cell: ({ close_reason }) => <Badge>{close_reason.replaceAll('_', ' ')}</Badge>,
  },
  {
    key: 'length',
    medium: true,
    head: 'Lasted',
    width: 100,
    cell: ({ duration_ms }) => duration(duration_ms),
  },
  count('marker_total', 'Markers'),
  count('accepted_total', 'Accepted'),
  count('rejected_total', 'Rejected'),
  count('corrected_total', 'Corrected'),
  {
    key: 'match',
    head: 'Match',
    width: 120,
    wide: true,
    cell: ({ match_id }) => (match_id === null ? <None /> : <MatchLink id={match_id} />),
  },
]

type CountName = 'marker_total' | 'accepted_total' | 'rejected_total' | 'corrected_total'

function count(key: CountName, head: string): Column<TelemetrySlice> {
  return { key, head, width: 90, align: 'number', wide: true, cell: (row) => grouped(row[key]) }
}

function Slices() {
  const [match, setMatch] = useQueryPart('match')
  const listing = usePages(['telemetry', 'slices', match], async (desk, after?: string) => {
    const query = { limit: 100, after, ...(match === '' ? {} : { match_id: match }) }
    const page = await desk.telemetry.slices({ query })
    return { items: page.items, next: page.next_after }
  })
  return (
    <Card title="Slices of the game's script">
      <div className="stack-tight">
        <div className="row">
          <FilterInput label="Match id" value={match} onValue={setMatch} isMain={true} />
        </div>
        <DataTable
          label="Telemetry slices"
          columns={columns}
          listing={listing}
          rowKey={({ report_id }) => report_id}
          empty={<None>None. A database keeps what scripts measure with guildhall.telemetry.</None>}
          inline={true}
        />
      </div>
    </Card>
  )
}

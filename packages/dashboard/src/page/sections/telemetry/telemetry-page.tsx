import { api, type HostTelemetry, type TelemetrySlice } from '@guildhall/contract'
import { useEffect, useState } from 'react'
import { bytesText, counted, duration, grouped } from '../../../model/time.ts'
import { useHistoryRange, usePast } from '../../data/history.ts'
import { useQueryPart } from '../../data/location.ts'
import { serverNow } from '../../data/node-status.ts'
import { byPages, pace } from '../../data/pace.ts'
import { usePages, useRead } from '../../data/reads.ts'
import { type Line, type Sample, valuesOf, withSample } from '../../data/samples.ts'
import { OfNode } from '../../kit/of-node.tsx'
import { Card, Page } from '../../kit/page.tsx'
import { Plot } from '../../kit/plot.tsx'
import { RangeBar } from '../../kit/range-bar.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { FilterInput } from '../../kit/table/filter.tsx'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'
import { MatchLink } from '../logs/log-lines.tsx'

export function TelemetryPage() {
  return (
    <Page title="Telemetry" actions={<OfNode route={api.telemetry.host} />}>
      <div className="page-scroll">
        <div className="stack">
          <Host />
          <Slices />
        </div>
      </div>
    </Page>
  )
}

const lines = {
  cpu: { label: 'percent', value: 'cpu_percent' },
  used: { label: 'used', value: 'memory_used_bytes' },
  own: { label: 'this node', value: 'memory_bytes' },
} as const

let samples: readonly Sample[] = []

/** The readings since the page was opened. */
function useSamples(data: HostTelemetry | undefined): readonly Sample[] {
  const [shown, setShown] = useState(samples)
  useEffect(() => {
    if (data === undefined) return
    const { cpu_usage_percent: cpu_percent, memory } = data
    const metrics = {
      ...(cpu_percent !== undefined && { cpu_percent }),
      ...(memory && {
        memory_used_bytes: memory.used_bytes,
        memory_bytes: memory.process_used_bytes,
      }),
    }
    samples = withSample(samples, { atSec: serverNow() / 1000, metrics })
    setShown(samples)
  }, [data])
  return shown
}

function Host() {
  const host = useRead(['telemetry', 'host'], (client) => client.telemetry.host({}), {
    everyMs: pace.machine,
  })
  const [range] = useHistoryRange()
  const past = usePast(range, useSamples(host.data))
  const { cpu_usage_percent, memory, storage } = host.data ?? {}
  const valuesIn = (line: Line, unit = 1) =>
    valuesOf(past.samples, line).map((value) => (value === null ? null : value / unit))
  return (
    <>
      <RangeBar marks={past.marks} />
      <div className="cards fit">
        <Card title="Processor" extra={<strong>{cpu_usage_percent ?? '–'} %</strong>}>
          <Plot
            label="Processor"
            past={past}
            series={[{ name: lines.cpu.label, values: valuesIn(lines.cpu) }]}
          />
        </Card>
        <Card title="Memory, GB" extra={memory && <MemoryWords memory={memory} />}>
          <Plot
            label="Memory"
            past={past}
            series={[lines.used, lines.own].map((line) => ({
              name: line.label,
              values: valuesIn(line, 1e9),
            }))}
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
    </>
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
  const listing = usePages(
    ['telemetry', 'slices', match],
    async (client, after?: string) => {
      const query = { limit: 100, after, ...(match === '' ? {} : { match_id: match }) }
      const page = await client.telemetry.slices({ query })
      return { items: page.items, next: page.next_after }
    },
    { everyMs: (pages) => byPages(pace.beside, pages) },
  )
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

import type { DeploymentNode } from '@guildhall/contract'
import { grouped } from '../../../model/time.ts'
import { pace } from '../../data/pace.ts'
import { useRead, wholeListing } from '../../data/reads.ts'
import { Page } from '../../kit/page.tsx'
import { Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'

const tones = { live: 'ok', draining: 'warn', gone: 'bad' } as const

const columns: readonly Column<DeploymentNode>[] = [
  { key: 'node_id', head: 'Node', cell: ({ node_id }) => <Text>{node_id}</Text> },
  {
    key: 'state',
    head: 'State',
    width: 110,
    cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge>,
  },
  {
    key: 'rooms',
    head: 'Rooms',
    width: 100,
    align: 'number',
    cell: ({ rooms }) => grouped(rooms),
    sort: (a, b) => a.rooms - b.rooms,
  },
  {
    key: 'connections',
    head: 'Connections',
    width: 130,
    align: 'number',
    cell: ({ connections }) => grouped(connections),
    sort: (a, b) => a.connections - b.connections,
    wide: true,
  },
  {
    key: 'version',
    head: 'Version',
    width: 110,
    cell: ({ version }) => <Text>{version}</Text>,
    wide: true,
  },
  { key: 'slot', head: 'Slot', width: 80, align: 'number', cell: ({ slot }) => slot, wide: true },
  {
    key: 'seen',
    head: 'Seen',
    width: 190,
    cell: ({ seen_at_unix_ms }) => <Time at={seen_at_unix_ms} />,
    wide: true,
  },
]

/** The nodes that play together, and for ten minutes those that are gone. */
export function NodesPage() {
  const nodes = useRead(['nodes'], (client) => client.matches.nodes({}), {
    everyMs: pace.machine,
    keep: true,
  })
  return (
    <Page title="Nodes">
      <DataTable
        label="Nodes"
        columns={columns}
        listing={wholeListing(nodes, nodes.data?.items)}
        rowKey={({ boot_id }) => boot_id}
        empty={<Empty title="No nodes" />}
      />
    </Page>
  )
}

import { api, type JournalEntry } from '@guildhall/contract'
import { Link } from '@tanstack/react-router'
import { grouped } from '../../../model/time.ts'
import { useAnsweringNode } from '../../data/answering-node.ts'
import { useOpenedQuery } from '../../data/opened.ts'
import { usePages } from '../../data/reads.ts'
import { OfNode } from '../../kit/of-node.tsx'
import { Facts, Pane } from '../../kit/page.tsx'
import { Section } from '../../kit/section.tsx'
import { Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { Badge } from '../../kit/text/badge.tsx'
import { Copyable } from '../../kit/text/copy.tsx'
import { NamedText } from '../../kit/text/links.tsx'
import { Text } from '../../kit/text/text.tsx'
import { ExactTime, Time } from '../../kit/text/time.tsx'

const columns: readonly Column<JournalEntry>[] = [
  { key: 'last', head: 'Last seen', width: 110, cell: (row) => <Time at={row.last_seen_ms} /> },
  { key: 'count', head: 'Times', width: 80, align: 'number', cell: (row) => grouped(row.count) },
  {
    key: 'kind',
    head: 'Kind',
    width: 90,
    cell: ({ kind }) => <Badge tone={kind === 'panic' ? 'bad' : 'warn'}>{kind}</Badge>,
  },
  { key: 'component', head: 'Where', width: 140, wide: true, cell: (row) => row.component },
  { key: 'category', head: 'Category', width: 160, wide: true, cell: (row) => row.category },
  { key: 'message', head: 'What', cell: ({ message }) => <NamedText>{message}</NamedText> },
]

/** An incident that comes once more is on top again. */
const keyOf = ({ fingerprint }: JournalEntry) => fingerprint
const follow = { key: keyOf, state: ({ count }: JournalEntry) => String(count) }

export function ErrorJournalPage() {
  const listing = usePages(
    ['errorJournal'],
    async (client, offset?: number) => {
      const query = { limit: 100, offset: offset ?? 0 }
      const page = await client.errorJournal.list({ query })
      return { items: page.entries, total: page.total, next: page.next_offset ?? undefined }
    },
    { follow },
  )
  return (
    <Section
      title="Errors"
      label="Errors"
      actions={<OfNode route={api.errorJournal.list} />}
      columns={columns}
      listing={listing}
      rowKey={keyOf}
      opened={useOpenedQuery('incident')}
      pane={({ row, close }) => row && <IncidentPane incident={row} onClose={close} />}
      empty={
        <Empty title="No errors">
          The node itself has not failed. What fails in the script stands in{' '}
          <Link to="/runtime">Runtime</Link>.
        </Empty>
      }
    />
  )
}

function IncidentPane({ incident, onClose }: { incident: JournalEntry; onClose(): void }) {
  const node = useAnsweringNode(api.errorJournal.list)
  return (
    <Pane title="Incident" label="Incident" onClose={onClose}>
      <p>
        <NamedText>{incident.message}</NamedText>
      </p>
      <Facts
        rows={{
          Times: grouped(incident.count),
          'Last seen': <ExactTime at={incident.last_seen_ms} />,
          'First seen': <ExactTime at={incident.first_seen_ms} />,
          Where: incident.component,
          Category: incident.category,
          ...(node !== undefined && { Node: <Text>{node}</Text> }),
          Fingerprint: <Copyable>{incident.fingerprint}</Copyable>,
        }}
      />
    </Pane>
  )
}

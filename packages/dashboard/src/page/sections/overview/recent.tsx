import type { AuditEntry } from '@guildhall/contract'
import { useRead, wholeListing } from '../../data/reads.ts'
import { Card } from '../../kit/page.tsx'
import { type Column, DataTable } from '../../kit/table.tsx'
import { None, Text } from '../../kit/text.tsx'
import { Time } from '../../kit/time.tsx'

const columns: readonly Column<AuditEntry>[] = [
  { key: 'time', head: 'When', width: 100, cell: ({ time_unix_ms }) => <Time at={time_unix_ms} /> },
  {
    key: 'actor',
    head: 'Who',
    width: 110,
    cell: ({ actor, key_name }) => <Text>{key_name ?? actor}</Text>,
  },
  { key: 'action', head: 'Action', width: 180, cell: ({ action }) => <code>{action}</code> },
  { key: 'target', head: 'Target', cell: ({ target }) => <Text>{target}</Text> },
]

export function RecentAudit() {
  const recent = useRead(['audit', 'recent'], (desk) => desk.audit.list({ query: { limit: 12 } }), {
    everyMs: 15_000,
  })
  return (
    <Card title="Recent audit entries">
      <DataTable
        label="Recent audit entries"
        columns={columns}
        listing={wholeListing(recent, recent.data?.entries)}
        rowKey={(entry) => `${entry.time_unix_ms} ${entry.action} ${entry.target} ${entry.details}`}
        empty={<None />}
        inline={true}
      />
    </Card>
  )
}

import type { AuditEntry, JournalEntry } from '@guildhall/contract'
import { Link } from '@tanstack/react-router'
import { grouped } from '../../../model/time.ts'
import { pace } from '../../data/pace.ts'
import { useRead, wholeListing } from '../../data/reads.ts'
import { useScriptFailures, useSeenFailures } from '../../data/script-failures.ts'
import { Card } from '../../kit/page.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Actor, NamedText } from '../../kit/text/links.tsx'
import { None } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'
import { FailureTable } from '../runtime/failure-table.tsx'

const columns: readonly Column<AuditEntry>[] = [
  { key: 'time', head: 'When', width: 100, cell: ({ time_unix_ms }) => <Time at={time_unix_ms} /> },
  { key: 'actor', medium: true, head: 'Who', width: 110, cell: Actor },
  { key: 'action', head: 'Action', width: 220, cell: ({ action }) => <code>{action}</code> },
  {
    key: 'target',
    medium: true,
    head: 'Target',
    cell: ({ target }) => <NamedText>{target}</NamedText>,
  },
]

const errorColumns: readonly Column<JournalEntry>[] = [
  { key: 'last', head: 'Last', width: 100, cell: (row) => <Time at={row.last_seen_ms} /> },
  { key: 'count', head: 'Times', width: 76, align: 'number', cell: (row) => grouped(row.count) },
  { key: 'what', head: 'What', cell: ({ message }) => <NamedText>{message}</NamedText> },
  { key: 'where', head: 'Where', width: 110, wide: true, cell: ({ component }) => component },
]

/** So many are shown here; all of them stand in Runtime. */
const failuresMax = 6

export function RecentFailures() {
  const failures = useScriptFailures()
  const sinceUnixMs = useSeenFailures()
  return (
    <Card title="Script failures" extra={<Link to="/runtime">all</Link>}>
      <FailureTable
        label="Script failures"
        listing={wholeListing(failures, failures.data?.items.slice(0, failuresMax))}
        sinceUnixMs={sinceUnixMs}
      />
    </Card>
  )
}

export function RecentErrors() {
  const recent = useRead(
    ['errorJournal', 'recent'],
    (client) => client.errorJournal.list({ query: { limit: 6 } }),
    { everyMs: pace.calm },
  )
  return (
    <Card title="Recent errors" extra={<Link to="/errors">all</Link>}>
      <DataTable
        label="Recent errors"
        columns={errorColumns}
        listing={wholeListing(recent, recent.data?.entries)}
        rowKey={({ fingerprint }) => fingerprint}
        empty={<None>The node itself has not failed.</None>}
        inline={true}
      />
    </Card>
  )
}

export function RecentAudit() {
  const recent = useRead(
    ['audit', 'recent'],
    (client) => client.audit.list({ query: { limit: 12 } }),
    {
      everyMs: pace.calm,
    },
  )
  return (
    <Card title="Recent audit entries" extra={<Link to="/audit">all</Link>}>
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

import { type AuditEntry, auditActions } from '@guildhall/contract'
import { jsonText } from '../../../model/json.ts'
import { exactTime, grouped } from '../../../model/time.ts'
import { useQueryPart } from '../../data/location.ts'
import { useOpenedHere } from '../../data/opened.ts'
import { usePages, useRead } from '../../data/reads.ts'
import { ExportButton } from '../../kit/export/export-dialog.tsx'
import type { Exported } from '../../kit/export/export-run.ts'
import { Facts, Pane } from '../../kit/page.tsx'
import { Section } from '../../kit/section.tsx'
import { Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { FilterChoice, FilterInput } from '../../kit/table/filter.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { CopyButton } from '../../kit/text/copy.tsx'
import { Actor, NamedText } from '../../kit/text/links.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { ExactTime, Time } from '../../kit/text/time.tsx'
import { MatchLink } from '../logs/log-lines.tsx'
import { ChainState } from './chain-state.tsx'

/** Scripts and the node itself have none. */
function Role({ role }: Pick<AuditEntry, 'role'>) {
  return role === '-' ? <None /> : <Badge>{role}</Badge>
}

const columns: readonly Column<AuditEntry>[] = [
  { key: 'time', head: 'When', width: 100, cell: ({ time_unix_ms }) => <Time at={time_unix_ms} /> },
  { key: 'actor', head: 'Who', width: 110, cell: Actor },
  { key: 'role', head: 'Role', width: 90, wide: true, cell: Role },
  { key: 'action', head: 'Action', cell: ({ action }) => <code>{action}</code> },
  {
    key: 'target',
    medium: true,
    head: 'Target',
    cell: ({ target }) => <NamedText>{target}</NamedText>,
  },
  {
    key: 'details',
    head: 'Details',
    wide: true,
    cell: ({ details }) => <NamedText>{details}</NamedText>,
  },
]

export function AuditPage() {
  const [actor, setActor] = useQueryPart('actor')
  const [action, setAction] = useQueryPart('action')
  const [match, setMatch] = useQueryPart('match')
  const filter = {
    ...(actor === '' ? {} : { actor }),
    ...(action === '' ? {} : { action }),
    ...(match === '' ? {} : { match_id: match }),
  }
  const listing = usePages(
    ['audit', 'list', actor, action, match],
    async (client, after?: string) => {
      const page = await client.audit.list({ query: { ...filter, limit: 500, after } })
      return { items: page.entries, next: page.next_after }
    },
    { follow },
  )
  return (
    <Section
      title="Audit"
      label="Audit trail"
      columns={columns}
      listing={listing}
      rowKey={keyOf}
      opened={useOpenedHere()}
      tools={
        <>
          <FilterInput label="Actor, exactly" value={actor} onValue={setActor} isMain={true} />
          <FilterChoice label="Action" value={action} choices={prefixes} onValue={setAction} />
          <FilterInput label="Match id" value={match} onValue={setMatch} />
          <span className="grow" />
          <TrailState />
        </>
      }
      pane={({ row, close }) => row && <EntryPane entry={row} onClose={close} />}
      empty={<Empty title="No entry matches" />}
      actions={<ExportButton exported={exportedTrail(filter, listing.readPage)} />}
    />
  )
}

type AuditFilter = { actor?: string; action?: string; match_id?: string }

function exportedTrail(
  filter: AuditFilter,
  read: Exported<AuditEntry>['read'],
): Exported<AuditEntry> {
  return {
    file: 'audit',
    noun: ['entry', 'entries'],
    words: filterWords(filter),
    columns: exportedColumns,
    read,
    reached: ({ time_unix_ms }) => `back to ${exactTime(time_unix_ms)}`,
  }
}

const exportedColumns = [
  'time_unix_ms',
  'actor_type',
  'actor',
  'role',
  'action',
  'target',
  'details',
  'match_id',
  'credential_id',
  'key_name',
  'scopes',
] as const

function filterWords(filter: AuditFilter): string {
  const names = { actor: 'actor', action: 'action', match_id: 'match' } as const
  const set = Object.entries(names).flatMap(([key, name]) => {
    const value = filter[key as keyof AuditFilter]
    return value === undefined ? [] : [`${name} ${value}`]
  })
  if (set.length === 0) return 'All entries, from the newest to the oldest.'
  return `All entries with ${set.join(' and ')}, from the newest to the oldest.`
}

const follow = { key: keyOf }

/** The first words of the actions, then the actions themselves. */
const prefixes = [
  ...new Set(auditActions.map((action) => `${action.split('.')[0]}.`)),
  ...auditActions,
]

function keyOf(entry: AuditEntry): string {
  return [entry.time_unix_ms, entry.actor, entry.action, entry.target, entry.details].join(' ')
}

function TrailState() {
  const newest = useRead(['audit', 'state'], (client) => client.audit.list({ query: { limit: 1 } }))
  if (newest.data === undefined) return null
  const { durable, retained, capacity, dropped_total } = newest.data
  return (
    <span className="row small">
      {durable ? (
        <ChainState />
      ) : (
        <span className="muted">
          in memory, {grouped(retained)} of {grouped(capacity)}
        </span>
      )}
      {dropped_total > 0 && <Badge tone="bad">{`${grouped(dropped_total)} lost`}</Badge>}
    </span>
  )
}

function EntryPane({ entry, onClose }: { entry: AuditEntry; onClose(): void }) {
  return (
    <Pane
      title={<code>{entry.action}</code>}
      label="Audit entry"
      onClose={onClose}
      actions={<CopyButton text={jsonText(entry)} what="entry" />}
    >
      <Facts
        rows={{
          When: <ExactTime at={entry.time_unix_ms} />,
          Who: <NamedText>{entry.actor}</NamedText>,
          Kind: entry.actor_type,
          Role: <Role {...entry} />,
          ...(entry.key_name === undefined ? {} : { Key: <Text>{entry.key_name}</Text> }),
          ...(entry.scopes === undefined ? {} : { Scopes: entry.scopes.join(', ') }),
          Target: <NamedText>{entry.target}</NamedText>,
          // What others chose stands in them: an id there may be meant to read as somebody's name.
          Details: <Text>{entry.details}</Text>,
          ...(entry.match_id === undefined ? {} : { Match: <MatchLink id={entry.match_id} /> }),
        }}
      />
    </Pane>
  )
}

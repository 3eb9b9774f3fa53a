import { useNavigate } from '@tanstack/react-router'
import { useQueryPart } from '../../data/location.ts'
import { useNodeStatus } from '../../data/node-status.ts'
import { useRead, wholeListing } from '../../data/reads.ts'
import { Page } from '../../kit/page.tsx'
import { Await, Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { Text } from '../../kit/text/text.tsx'
import { TableView } from './table-view.tsx'

type Relation = { table: { schema: string; table: string }; kind: 'table' | 'view' }

const columns: readonly Column<Relation>[] = [
  {
    key: 'table',
    head: 'Table',
    cell: ({ table }) => <Text>{table.table}</Text>,
    sort: (a, b) => a.table.table.localeCompare(b.table.table),
  },
  { key: 'schema', head: 'Schema', width: 160, cell: ({ table }) => <Text>{table.schema}</Text> },
  { key: 'kind', head: 'Kind', width: 110, cell: ({ kind }) => <Badge>{kind}</Badge> },
]

/** The store as it is, to be read only. */
export function DatabasePage() {
  const [schema] = useQueryPart('schema')
  const [table] = useQueryPart('table')
  const navigate = useNavigate()
  const { data, isPending } = useNodeStatus()
  if (isPending) return <Page title="Database">{null}</Page>
  if (data?.status.backend === 'in-memory') return <NothingToRead />
  if (table === '') return <Tables />
  const back = () => void navigate({ to: '/database' })
  return (
    <Page
      title="Database"
      head={
        <span className="row">
          <button type="button" className="link" onClick={back}>
            Database
          </button>
          <span className="muted">/</span>
          <Text>{table}</Text>
        </span>
      }
    >
      {schema === '' ? (
        <InAnySchema table={table} />
      ) : (
        <TableView key={`${schema} ${table}`} table={{ schema, table }} />
      )}
    </Page>
  )
}

/** Links of other sections name the table alone: where it lies depends on the store. */
function InAnySchema({ table }: { table: string }) {
  const tables = useRead(['database', 'tables'], (client) => client.database.tables({}))
  return (
    <Await query={tables}>
      {(found) => {
        const relation = found.tables.find((each) => each.table.table === table)
        if (relation === undefined) return <Empty title="No such table" />
        return <TableView key={table} table={relation.table} />
      }}
    </Await>
  )
}

function NothingToRead() {
  return (
    <Page title="Database">
      <Empty title="A database in memory cannot be read here">
        It needs a database file or PostgreSQL.
      </Empty>
    </Page>
  )
}

function Tables() {
  const navigate = useNavigate()
  const tables = useRead(['database', 'tables'], (client) => client.database.tables({}))
  return (
    <Page title="Database">
      <DataTable
        label="Tables"
        columns={columns}
        listing={wholeListing(tables, tables.data?.tables)}
        rowKey={({ table }) => `${table.schema} ${table.table}`}
        onOpen={({ table }) => void navigate({ to: '/database', search: { ...table } })}
        empty={<Empty title="No tables" />}
      />
    </Page>
  )
}

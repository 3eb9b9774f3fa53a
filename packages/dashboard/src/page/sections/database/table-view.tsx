import type { DatabaseRow } from '@guildhall/contract'
import { useQueryPart } from '../../data/location.ts'
import { useOpenedHere } from '../../data/opened.ts'
import { usePages, useRead } from '../../data/reads.ts'
import { ListAndPane } from '../../kit/section.tsx'
import { Await, Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { Cell } from './cell.tsx'
import { type Description, keyColumnsOf } from './description.ts'
import { type Filter, Filters, readFilters, writeFilters } from './filters.tsx'
import { RowPane } from './row-pane.tsx'

export function TableView({ table }: { table: Description['table'] }) {
  const description = useRead(['database', 'describe', table], (client) =>
    client.database.describe({ params: table }),
  )
  return (
    <Await query={description}>
      {(found) =>
        found.capabilities.stable_keyset_pagination ? (
          <Rows description={found} />
        ) : (
          <Empty title="The rows of this table cannot be read">It has no usable primary key.</Empty>
        )
      }
    </Await>
  )
}

const columnWidth = 170

function Rows({ description }: { description: Description }) {
  const { table, primary_key } = description
  const [filterText, setFilterText] = useQueryPart('filters')
  const [sortText, setSort] = useQueryPart('sort')
  const [direction, setDirection] = useQueryPart('direction')
  const filters = readFilters(filterText)
  const sort = {
    column: sortText || (primary_key[0] ?? ''),
    direction: direction === 'desc' ? ('desc' as const) : ('asc' as const),
  }
  const key = [table, filterText, sort]
  const listing = usePages(['database', 'rows', ...key], async (client, cursor?: string) => {
    const body = { table, filters, sort, limit: 100, cursor }
    const page = await client.database.rows({ body })
    return { items: page.rows, next: page.next }
  })
  const keys = keyColumnsOf(description)
  const columns = description.columns.map(
    ({ name }): Column<DatabaseRow> => ({
      key: name,
      head: name,
      width: columnWidth,
      cell: ({ values }) => <Cell cell={values[name]} column={{ name, isKey: keys.has(name) }} />,
    }),
  )
  return (
    <ListAndPane
      label={`Rows of ${table.table}`}
      columns={columns}
      listing={listing}
      rowKey={({ row_ref }) => row_ref}
      opened={useOpenedHere()}
      tools={
        <>
          <SortChoice
            description={description}
            sort={sort}
            onColumn={setSort}
            onDirection={setDirection}
          />
          <Filters
            description={description}
            filters={filters}
            onFilters={(next: readonly Filter[]) => setFilterText(writeFilters(next))}
          />
        </>
      }
      pane={({ row, close }) =>
        row && <RowPane row={row} description={description} onClose={close} />
      }
      empty={<Empty title="No rows" />}
      minWidth={columns.length * columnWidth}
    />
  )
}

type SortProps = {
  description: Description
  sort: { column: string; direction: string }
  onColumn(column: string): void
  onDirection(direction: string): void
}

function SortChoice({ description, sort, onColumn, onDirection }: SortProps) {
  return (
    <>
      <label className="filter">
        <span>Sorted by</span>
        <select value={sort.column} onChange={({ target }) => onColumn(target.value)}>
          {description.columns
            .filter(({ sortable }) => sortable)
            .map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
        </select>
      </label>
      <label className="filter">
        <span>Order</span>
        <select value={sort.direction} onChange={({ target }) => onDirection(target.value)}>
          <option value="asc">ascending</option>
          <option value="desc">descending</option>
        </select>
      </label>
    </>
  )
}

import type { DatabaseRow } from '@guildhall/contract'
import { useRead } from '../../data/reads.ts'
import { ErrorNote } from '../../kit/error-state.tsx'
import { Facts, Pane } from '../../kit/page.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { CopyButton } from '../../kit/text/copy.tsx'
import { JsonView } from '../../kit/text/json-view.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { Cell, type Column, cellText } from './cell.tsx'
import { type Description, keyColumnsOf } from './description.ts'

type RowPaneProps = { row: DatabaseRow; description: Description; onClose(): void }

/** One row as it is now: a row that was changed meanwhile is not found. */
export function RowPane({ row, description, onClose }: RowPaneProps) {
  const { table } = description
  const { row_ref } = row
  const now = useRead(['database', 'row', row_ref], (client) =>
    client.database.row({ body: { table, row_ref } }),
  )
  const { values } = now.data ?? row
  const keys = keyColumnsOf(description)
  return (
    <Pane title={<Text>{table.table}</Text>} label="Row" onClose={onClose}>
      <ErrorNote error={now.error} />
      <dl className="facts">
        {description.columns.map(({ name, data_type }) => (
          <div key={name} style={{ display: 'contents' }}>
            <dt className="mono" title={data_type}>
              {name}
            </dt>
            <dd>
              <Value column={{ name, isKey: keys.has(name) }} cell={values[name]} />
            </dd>
          </div>
        ))}
      </dl>
      <Structure description={description} />
    </Pane>
  )
}

type ValueProps = { column: Column; cell: DatabaseRow['values'][string] | undefined }

function Value({ column, cell }: ValueProps) {
  if (cell === undefined) return <None>null</None>
  if (cell.kind === 'json') return <JsonView value={cell.value} label={column.name} />
  return (
    <span className="row">
      <span className="break">
        <Cell cell={cell} column={column} />
      </span>
      {cell.kind !== 'null' && cell.kind !== 'redacted' && (
        <CopyButton text={cellText(cell)} what={column.name} />
      )}
    </span>
  )
}

function Structure({ description }: { description: Description }) {
  const { primary_key, indexes, relations } = description
  return (
    <section className="stack-tight" aria-label="Structure">
      <h3>Structure</h3>
      <Facts
        rows={{
          'Primary key': primary_key.join(', '),
          Indexes: (
            <ul>
              {indexes.map(({ name, columns, unique }) => (
                <li key={name}>
                  {columns.join(', ')} {unique && <Badge>unique</Badge>}
                </li>
              ))}
            </ul>
          ),
          'Refers to': (
            <ul>
              {relations.map(({ name, columns, referenced_table }) => (
                <li key={name}>
                  {columns.join(', ')} → {referenced_table.table}
                </li>
              ))}
            </ul>
          ),
        }}
      />
    </section>
  )
}

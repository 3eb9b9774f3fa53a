import type { DatabaseCell } from '@guildhall/contract'
import { jsonText } from '../../../model/json.ts'
import { grouped } from '../../../model/time.ts'
import { Badge } from '../../kit/text/badge.tsx'
import { LinkedText, NamedText } from '../../kit/text/links.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'

type CellProps = { cell: DatabaseCell | undefined; column: Column }

/** A column as its cells are shown: keys name something, so their digits are not grouped. */
export type Column = { name: string; isKey: boolean }

/** A value of the database, by its kind. */
export function Cell({ cell, column }: CellProps) {
  if (cell === undefined || cell.kind === 'null') return <None>null</None>
  const { kind, value } = cell
  if (kind === 'redacted') return <Badge>redacted</Badge>
  if (kind === 'json') {
    return (
      <code>
        <NamedText>{jsonText(value)}</NamedText>
      </code>
    )
  }
  if (kind === 'integer' && (typeof value === 'number' || typeof value === 'bigint')) {
    if (column.name.endsWith('_unix_ms') && typeof value === 'number') return <Time at={value} />
    return <span className="mono">{column.isKey ? String(value) : grouped(value)}</span>
  }
  if (typeof value !== 'string') return <code>{jsonText(value)}</code>
  if (ownNames.has(column.name)) return <Text>{value}</Text>
  return <LinkedText>{value}</LinkedText>
}

/** What players chose for themselves: an id there may be meant to read as somebody's name. */
const ownNames = new Set(['username', 'display_name', 'display_folded', 'name'])

/** The value as text, to be copied. */
export function cellText({ kind, value }: DatabaseCell): string {
  if (kind === 'null' || kind === 'redacted') return kind
  return typeof value === 'string' ? value : jsonText(value)
}

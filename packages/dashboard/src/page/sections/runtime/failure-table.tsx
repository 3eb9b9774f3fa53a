import type { HandlerFailure } from '@guildhall/contract'
import { grouped } from '../../../model/time.ts'
import type { Listing } from '../../data/reads.ts'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { NamedText } from '../../kit/text/links.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'

/** E.g. `on_rpc boom`; a timer and most hooks have no further name. */
export function handlerOf({ hook, name }: Pick<HandlerFailure, 'hook' | 'name'>): string {
  return name === '' ? hook : `${hook} ${name}`
}

/** The line of the author's code that is nearest to the failure. */
export function Place({ place }: Pick<HandlerFailure, 'place'>) {
  if (place === null) return <None>unknown</None>
  return (
    <code>
      <Text>{place}</Text>
    </code>
  )
}

function columnsOf(sinceUnixMs: number): readonly Column<HandlerFailure>[] {
  return [
    {
      key: 'last',
      head: 'Last',
      width: 134,
      cell: ({ last_at_unix_ms }) => (
        <span className="row tight">
          <Time at={last_at_unix_ms} />
          {last_at_unix_ms > sinceUnixMs && <Badge tone="bad">new</Badge>}
        </span>
      ),
    },
    { key: 'count', head: 'Times', width: 70, align: 'number', cell: (it) => grouped(it.count) },
    { key: 'reason', head: 'What', cell: ({ reason }) => <NamedText>{reason}</NamedText> },
    { key: 'place', medium: true, head: 'Where', width: 150, cell: Place },
    {
      key: 'handler',
      head: 'Handler',
      width: 170,
      wide: true,
      cell: (failure) => <Text>{handlerOf(failure)}</Text>,
    },
  ]
}

type FailureTableProps = {
  label: string
  listing: Listing<HandlerFailure>
  /** Failures after this moment are marked as new. */
  sinceUnixMs: number
  onOpen?: (failure: HandlerFailure) => void
}

export function FailureTable({ label, listing, sinceUnixMs, onOpen }: FailureTableProps) {
  return (
    <DataTable
      label={label}
      columns={columnsOf(sinceUnixMs)}
      listing={listing}
      rowKey={({ hook, name, place, reason }) => [hook, name, place ?? reason].join(' ')}
      onOpen={onOpen}
      empty={<None>No handler has failed since the start of the node.</None>}
      inline={true}
    />
  )
}

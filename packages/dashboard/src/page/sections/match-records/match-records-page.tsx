import type { MatchRecord } from '@guildhall/contract'
import { useState } from 'react'
import { duration, grouped } from '../../../model/time.ts'
import { useQueryPart } from '../../data/location.ts'
import { serverNow } from '../../data/node-status.ts'
import { useOpenedPath } from '../../data/opened.ts'
import { usePages } from '../../data/reads.ts'
import { Section } from '../../kit/section.tsx'
import { Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { FilterChoice } from '../../kit/table/filter.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'
import { DurabilityNote, NotKept } from '../logs/logs-page.tsx'
import { MatchPane } from './match-pane.tsx'
import { MatchState } from './match-state.tsx'

const columns: readonly Column<MatchRecord>[] = [
  {
    key: 'opened',
    head: 'Opened',
    width: 110,
    cell: ({ opened_at_unix_ms }) => <Time at={opened_at_unix_ms} />,
  },
  {
    key: 'name',
    head: 'Name',
    cell: ({ name }) => (name === null ? <None>unnamed</None> : <Text>{name}</Text>),
  },
  { key: 'map', head: 'Map', cell: ({ map }) => <Text>{map}</Text>, wide: true },
  { key: 'mode', head: 'Mode', cell: ({ mode }) => <Text>{mode}</Text>, wide: true },
  {
    key: 'players',
    head: 'Most at once',
    width: 130,
    align: 'number',
    wide: true,
    cell: ({ peak_participants }) => grouped(peak_participants),
  },
  { key: 'length', medium: true, head: 'Lasted', width: 110, cell: lengthOf },
  { key: 'state', head: 'State', width: 160, cell: MatchState },
]

function lengthOf({ opened_at_unix_ms, closed_at_unix_ms }: MatchRecord): string {
  return duration(Math.max(0, (closed_at_unix_ms ?? serverNow()) - opened_at_unix_ms))
}

export function MatchRecordsPage() {
  const [state, setState] = useQueryPart('state')
  const [durability, setDurability] = useState<{ durable: boolean; dropped_total: number }>()
  const listing = usePages(
    ['matchRecords', state],
    async (client, after?: string) => {
      const open = state === 'open' ? ('true' as const) : undefined
      const page = await client.matchRecords.list({ query: { limit: 200, after, open } })
      setDurability(page)
      return { items: page.items, next: page.next_after }
    },
    // Where nothing is kept nothing comes, and each reading would stand in the audit ring.
    durability?.durable === false ? {} : { follow },
  )
  return (
    <Section
      title="Match records"
      label="Match records"
      columns={columns}
      listing={listing}
      rowKey={keyOf}
      opened={useOpenedPath('/match-records')}
      tools={
        <>
          <FilterChoice label="State" value={state} choices={['open']} onValue={setState} />
          <span className="grow" />
          <DurabilityNote durability={durability} />
        </>
      }
      pane={({ key, close }) => <MatchPane id={key} onClose={close} />}
      empty={durability?.durable === false ? <NotKept /> : <Empty title="No matches yet" />}
    />
  )
}

const keyOf = ({ match_id }: MatchRecord) => match_id
const follow = { key: keyOf, state: ({ open }: MatchRecord) => String(open) }

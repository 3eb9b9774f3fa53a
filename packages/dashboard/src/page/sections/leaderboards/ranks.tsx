import { api, type JsonObject } from '@guildhall/contract'
import { useState } from 'react'
import { jsonText } from '../../../model/json.ts'
import { exactTime, grouped } from '../../../model/time.ts'
import { useQueryPart } from '../../data/location.ts'
import { nextOffset, usePages } from '../../data/reads.ts'
import { ExportButton } from '../../kit/export/export-dialog.tsx'
import { exportOf } from '../../kit/export/export-run.ts'
import { Empty } from '../../kit/states.tsx'
import type { BulkAction } from '../../kit/table/bulk.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { UserLink } from '../../kit/text/links.tsx'

export type Ranked = {
  rank: number
  user_id: string
  score: number | bigint
  subscore: number | bigint
  metadata: JsonObject | null
  updated_at_unix_ms: number
  submissions: number
}

const columns: readonly Column<Ranked>[] = [
  { key: 'rank', head: 'Rank', width: 70, align: 'number', cell: ({ rank }) => grouped(rank) },
  { key: 'user', head: 'User', cell: ({ user_id }) => <UserLink id={user_id} /> },
  { key: 'score', head: 'Score', align: 'number', cell: Score },
  {
    key: 'subscore',
    head: 'Subscore',
    width: 90,
    align: 'number',
    wide: true,
    cell: ({ subscore }) => grouped(subscore),
  },
]

/** The rest of a record is shown on hover. */
function Score({ score, submissions, metadata, updated_at_unix_ms }: Ranked) {
  const facts = [
    `set ${exactTime(updated_at_unix_ms)}`,
    `submitted ${grouped(submissions)} times`,
    metadata === null ? 'no metadata' : jsonText(metadata),
  ]
  return <span title={facts.join('\n')}>{grouped(score)}</span>
}

/** The ranking from any rank on: deep pages cost no more than the first. */
export function Ranks({ board }: { board: string }) {
  const [from, setFrom] = useQueryPart('rank')
  const first = Math.max(0, (Number.parseInt(from, 10) || 1) - 1)
  const params = { id: board }
  const listing = usePages(['leaderboards', 'ranks', board, first], async (client, at?: number) => {
    const offset = at ?? first
    const page = await client.leaderboards.records({ params, query: { limit: 200, offset } })
    return { items: page.items, total: page.total, next: nextOffset(offset, page) }
  })
  return (
    <section className="stack-tight" aria-label="Ranks">
      <div className="row low">
        <RankInput value={from} onValue={setFrom} />
        <span className="grow" />
        <ExportButton
          exported={exportOf(listing, { ...exported, keyOf, file: `ranks-${board}` })}
        />
      </div>
      <DataTable
        label="Ranks"
        columns={columns}
        listing={listing}
        rowKey={keyOf}
        bulk={{
          route: api.leaderboards.deleteRecord,
          noun: 'record',
          nameOf,
          show: ({ user_id }) => <UserLink id={user_id} />,
          touches: ['leaderboards'],
          actions: [removalOf(board)],
        }}
        empty={<Empty title={first === 0 ? 'No records yet' : 'The board ends before this rank'} />}
        inline={true}
      />
    </section>
  )
}

function RankInput({ value, onValue }: { value: string; onValue(value: string): void }) {
  const [text, setText] = useState(value)
  return (
    <form
      className="row low"
      onSubmit={(event) => {
        event.preventDefault()
        onValue(text)
      }}
    >
      <label className="filter">
        <span>From rank</span>
        <input
          value={text}
          inputMode="numeric"
          size={10}
          placeholder="1"
          onChange={({ target }) => setText(target.value.replace(/\D/g, ''))}
        />
      </label>
      <button type="submit">Go</button>
    </form>
  )
}

const exported = {
  noun: ['record', 'records'],
  columns: [
    'rank',
    'user_id',
    'score',
    'subscore',
    'submissions',
    'updated_at_unix_ms',
    'metadata',
  ],
} as const

const keyOf = ({ user_id }: Ranked) => user_id
const nameOf = ({ rank }: Ranked) => `rank ${rank}`

function removalOf(board: string): BulkAction<Ranked> {
  return {
    label: 'Delete',
    words: 'Their records are gone for good; those behind them move up.',
    danger: true,
    run: (client, { user_id }, idempotencyKey) =>
      client.leaderboards.deleteRecord({ params: { id: board, user_id }, idempotencyKey }),
  }
}

import { api, boardOperators, boardSorts, type Leaderboard } from '@guildhall/contract'
import { useNavigate } from '@tanstack/react-router'
import { cronWords } from '../../../model/cron-words.ts'
import { grouped } from '../../../model/time.ts'
import { useChange } from '../../data/changes.ts'
import { useOpenedPath } from '../../data/opened.ts'
import { useRead, wholeListing } from '../../data/reads.ts'
import { optionalText, selectField, textField } from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'
import { Section } from '../../kit/section.tsx'
import { Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { None, Text } from '../../kit/text/text.tsx'
import { BoardPane } from './board-pane.tsx'
import { bestWords, countsWords } from './words.ts'

const columns: readonly Column<Leaderboard>[] = [
  {
    key: 'id',
    head: 'Board',
    cell: ({ id }) => <Text>{id}</Text>,
    sort: (a, b) => (a.id < b.id ? -1 : 1),
  },
  {
    key: 'records',
    head: 'Records',
    width: 110,
    align: 'number',
    cell: ({ records }) => grouped(records),
    sort: (a, b) => a.records - b.records,
  },
  { key: 'sort', head: 'Best is', width: 100, cell: ({ sort }) => bestWords[sort] },
  {
    key: 'operator',
    head: 'Counts',
    width: 110,
    wide: true,
    cell: ({ operator }) => countsWords[operator],
  },
  {
    key: 'schedule',
    head: 'Reset',
    wide: true,
    cell: ({ reset_schedule }) => <Schedule text={reset_schedule} />,
  },
]

function Schedule({ text }: { text: string | null }) {
  if (text === null) return <None>never</None>
  return <span title={text}>{cronWords(text) ?? <Text>{text}</Text>}</span>
}

export function LeaderboardsPage() {
  const boards = useRead(['leaderboards', 'list'], (client) => client.leaderboards.list({}))
  return (
    <Section
      title="Leaderboards"
      label="Leaderboards"
      columns={columns}
      listing={wholeListing(boards, boards.data?.items)}
      rowKey={(board) => board.id}
      opened={useOpenedPath('/leaderboards')}
      pane={({ row, close }) => row && <BoardPane board={row} onClose={close} />}
      empty={<Empty title="No leaderboards yet" />}
      add={{
        route: api.leaderboards.create,
        label: 'New leaderboard',
        form: (close) => <OpenBoard onClose={close} />,
      }}
    />
  )
}

const newBoard = {
  id: textField({ label: 'Id', hint: '1 to 128 bytes' }),
  sort: selectField({ label: 'Sort', choices: boardSorts, initial: 'desc' }),
  operator: selectField({ label: 'Operator', choices: boardOperators, initial: 'best' }),
  reset_schedule: optionalText({
    label: 'Reset schedule',
    hint: 'Minute, hour, day, month, weekday in UTC, e.g. 0 6 * * mon; nothing is never',
  }),
}

type NewBoard = {
  id: string
  sort: (typeof boardSorts)[number]
  operator: (typeof boardOperators)[number]
  reset_schedule: string | undefined
}

function OpenBoard({ onClose }: { onClose(): void }) {
  const navigate = useNavigate()
  const change = useChange({
    send: (client, body: NewBoard, idempotencyKey) =>
      client.leaderboards.create({ body, idempotencyKey }),
    touches: ['leaderboards'],
    done: ({ id }) => `Opened ${id}`,
  })
  return (
    <FormDialog
      title="New leaderboard"
      action="Create"
      fields={newBoard}
      submit={async (body) => {
        const { id } = await change.mutateAsync(body)
        void navigate({ to: '/leaderboards/$id', params: { id } })
      }}
      onClose={onClose}
    />
  )
}

import type { LagCapture, LagState } from '@guildhall/contract'
import { recorderName } from '../../../model/lag.ts'
import { grouped } from '../../../model/time.ts'
import { useChange } from '../../data/changes.ts'
import { givenListing } from '../../data/reads.ts'
import { ErrorNote } from '../../kit/error-state.tsx'
import { Card } from '../../kit/page.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge, type Tone } from '../../kit/text/badge.tsx'
import { None } from '../../kit/text/text.tsx'
import { callLag } from './lag-calls.ts'
import { PlayerName, usePlayers } from './players.tsx'

type Recorder = LagState['recorders'][number]

const tones: Readonly<Record<string, Tone>> = {
  recording: 'accent',
  flushing: 'accent',
  uploaded: 'ok',
  missed: 'warn',
  failed: 'bad',
}

const columns: readonly Column<Recorder>[] = [
  {
    key: 'status',
    head: 'Status',
    width: 120,
    cell: ({ status }) => <Badge tone={tones[status] ?? 'none'}>{recorderName(status)}</Badge>,
  },
  { key: 'attempt', head: 'Asked', width: 80, align: 'number', cell: ({ attempt }) => attempt },
  count('packets', 'Recorded'),
  count('dropped', 'Overwritten'),
]

function count(key: 'packets' | 'dropped', head: string): Column<Recorder> {
  return { key, head, width: 110, align: 'number', medium: true, cell: (row) => grouped(row[key]) }
}

/** Each recorder as it is now. Asking is audited, so it is done when somebody wants it. */
export function Recorders({ capture }: { capture: LagCapture }) {
  const players = usePlayers(capture)
  const change = useChange({
    send: (client, payload: { capture_id: string }, idempotencyKey) =>
      callLag(client, 'lag.status', { payload, idempotencyKey }),
    touches: [],
    done: (state) => (state === null ? 'The capture is of another start of the node' : undefined),
  })
  const { data } = change
  const ask = () => change.mutate({ capture_id: capture.capture_id })
  const names: Column<Recorder> = {
    key: 'player',
    head: 'Player',
    cell: ({ participant }) => <PlayerName participant={participant} players={players} />,
  }
  return (
    <Card
      title="Recorders"
      extra={
        <button type="button" className="tiny" disabled={change.isPending} onClick={ask}>
          {data ? 'Read again' : 'Who is it?'}
        </button>
      }
    >
      <ErrorNote error={change.error} />
      {data ? (
        <DataTable
          label="Recorders"
          columns={[names, ...columns]}
          listing={givenListing('recorders', data.recorders, {
            readAtMs: change.submittedAt,
            refetch: ask,
          })}
          rowKey={({ participant }) => String(participant)}
          empty={<None />}
          inline={true}
        />
      ) : (
        <p className="muted">How many are in which status stands above; this names them.</p>
      )}
    </Card>
  )
}

import { api, type Leaderboard } from '@guildhall/contract'
import { useState } from 'react'
import { cronWords, nextTimes } from '../../../model/cron-words.ts'
import { grouped } from '../../../model/time.ts'
import { useChange } from '../../data/changes.ts'
import { serverNow } from '../../data/node-status.ts'
import { useMay } from '../../data/permissions.ts'
import { useExecutesResets } from '../../data/reset-schedules.ts'
import { Confirm } from '../../kit/dialog/confirm.tsx'
import { Facts, Pane } from '../../kit/page.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { ExactTime } from '../../kit/text/time.tsx'
import { Ranks } from './ranks.tsx'
import { SubmitScore } from './submit-score.tsx'
import { bestWords, countsWords } from './words.ts'

export function BoardPane({ board, onClose }: { board: Leaderboard; onClose(): void }) {
  const { id, sort, operator, records, reset_schedule } = board
  return (
    <Pane
      title={<Text>{id}</Text>}
      label="Leaderboard"
      onClose={onClose}
      actions={<BoardActions board={board} onDeleted={onClose} />}
    >
      <Facts
        rows={{
          Records: grouped(records),
          'Best is': bestWords[sort],
          Counts: `${countsWords[operator]} of each user`,
          Reset: reset_schedule === null ? <None>never</None> : <Schedule text={reset_schedule} />,
        }}
      />
      <Ranks board={id} />
    </Pane>
  )
}

/** What the schedule says, whether this node runs schedules, and when it comes next. */
function Schedule({ text }: { text: string }) {
  const isRun = useExecutesResets()
  const words = cronWords(text)
  return (
    <div className="stack-tight">
      <span className="row">
        <code>
          <Text>{text}</Text>
        </code>
        {words === undefined && <Badge tone="warn">not a schedule: never executed</Badge>}
        {words !== undefined && isRun === true && <Badge tone="ok">executed</Badge>}
        {words !== undefined && isRun === false && (
          <Badge tone="warn">not executed: leaderboards.execute_reset_schedules is false</Badge>
        )}
      </span>
      {words !== undefined && <span>{words}</span>}
      {words !== undefined && (
        <ol aria-label="Next times">
          {nextTimes(text, serverNow(), 3).map((at) => (
            <li key={at}>
              <ExactTime at={at} />
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}

function BoardActions({ board, onDeleted }: { board: Leaderboard; onDeleted(): void }) {
  const [asked, setAsked] = useState<'submit' | 'delete'>()
  const mayChange = useMay(api.leaderboards.delete)
  const { id, records } = board
  const remove = useChange({
    send: (client, id: string, idempotencyKey) =>
      client.leaderboards.delete({ params: { id }, idempotencyKey }),
    touches: ['leaderboards'],
    done: `Deleted ${id}`,
  })
  if (!mayChange) return null
  return (
    <>
      <button type="button" onClick={() => setAsked('submit')}>
        Submit
      </button>
      <button type="button" className="danger" onClick={() => setAsked('delete')}>
        Delete board
      </button>
      {asked === 'submit' && <SubmitScore board={id} onClose={() => setAsked(undefined)} />}
      {asked === 'delete' && (
        <Confirm
          title={`Delete the board ${id}`}
          action="Delete"
          danger={true}
          typed={id}
          run={async () => {
            await remove.mutateAsync(id)
            onDeleted()
          }}
          onClose={() => setAsked(undefined)}
        >
          The board and its {grouped(records)} records are gone for good. Its tournaments stay.
        </Confirm>
      )}
    </>
  )
}

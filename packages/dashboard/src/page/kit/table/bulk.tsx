import { type ConsoleClient, GuildhallError } from '@guildhall/client/console'
import type { Route } from '@guildhall/contract'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { counted } from '../../../model/time.ts'
import { newKey } from '../../data/changes.ts'
import { call } from '../../data/console-client.ts'
import { Confirm } from '../dialog/confirm.tsx'
import { Dialog } from '../dialog/dialog.tsx'
import { toast } from '../dialog/toasts.tsx'
import { Text } from '../text/text.tsx'
import type { Picking } from './picking.ts'

export type BulkAction<Row> = {
  label: string
  /** What it does to all of them, for the question before it. */
  words: string
  danger?: boolean
  /** One of them. */
  run(client: ConsoleClient, row: Row, idempotencyKey: string): Promise<unknown>
}

type Failure<Row> = { row: Row; reason: string }
/** The rows are those that were picked at the press of the button, whatever comes meanwhile. */
type Question<Row> = { action: BulkAction<Row>; rows: readonly Row[] }

/** So many requests run at a time. */
const lanes = 4

export type Bulk<Row> = {
  /** Who may not call it picks nothing. */
  route: Route
  /** What one row is, e.g. `account`. */
  noun: string
  /** What a row is called, for screen readers. */
  nameOf(row: Row): string
  /** The same in questions and summaries; its name if it is not given. */
  show?(row: Row): ReactNode
  touches: readonly string[]
  actions: readonly BulkAction<Row>[]
}

type BulkProps<Row> = Omit<Bulk<Row>, 'route'> & { picking: Picking<Row> }

/** Actions on all picked rows; what failed is listed afterwards and stays picked. */
export function BulkBar<Row>(props: BulkProps<Row>) {
  // A question about the rows of one list is never answered for those of another.
  return <ListBar key={props.picking.asked} {...props} />
}

function ListBar<Row>({ picking, noun, nameOf, touches, actions, ...props }: BulkProps<Row>) {
  const show = props.show ?? ((row: Row) => <Text>{nameOf(row)}</Text>)
  const queries = useQueryClient()
  const [question, setQuestion] = useState<Question<Row>>()
  const [failures, setFailures] = useState<readonly Failure<Row>[]>([])
  const { picked } = picking
  const run = async ({ action, rows }: Question<Row>) => {
    const failed = await runAll(rows, action)
    for (const feature of [...touches, 'audit']) {
      void queries.invalidateQueries({ queryKey: [feature] })
    }
    setFailures(failed)
    picking.set(failed.map(({ row }) => row))
    if (failed.length < rows.length) toast(`${action.label}: ${rows.length - failed.length} done`)
  }
  return (
    <>
      {picked.length > 0 && (
        <section className="bulk" aria-label="Picked rows">
          <strong>{counted(picked.length, noun)} picked</strong>
          {actions.map((action) => (
            <button
              key={action.label}
              type="button"
              className={action.danger ? 'danger' : ''}
              onClick={() => setQuestion({ action, rows: picked })}
            >
              {action.label}
            </button>
          ))}
          <button type="button" className="quiet" onClick={() => picking.set([])}>
            Pick none
          </button>
        </section>
      )}
      {question && (
        <BulkQuestion
          {...question}
          noun={noun}
          show={show}
          run={() => run(question)}
          onClose={() => setQuestion(undefined)}
        />
      )}
      {failures.length > 0 && (
        <FailureSummary failures={failures} show={show} onClose={() => setFailures([])} />
      )}
    </>
  )
}

type QuestionProps<Row> = Question<Row> &
  Pick<BulkProps<Row>, 'noun'> & {
    show(row: Row): ReactNode
    run(): Promise<unknown>
    onClose(): void
  }

function BulkQuestion<Row>(props: QuestionProps<Row>) {
  const { action, rows, noun, show, run, onClose } = props
  const { label, words, danger = false } = action
  return (
    <Confirm
      title={`${label} ${counted(rows.length, noun)}`}
      action={label}
      danger={danger}
      typed={danger ? `${label.toLowerCase()} ${rows.length}` : undefined}
      run={run}
      onClose={onClose}
    >
      <p>{words}</p>
      <ul className="named" aria-label="Picked">
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list stays as it was at the press.
          <li key={index}>{show(row)}</li>
        ))}
      </ul>
    </Confirm>
  )
}

async function runAll<Row>(
  rows: readonly Row[],
  { run }: BulkAction<Row>,
): Promise<Failure<Row>[]> {
  const waiting = [...rows]
  const failed: Failure<Row>[] = []
  const work = async () => {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      const one = row
      try {
        await call((client) => run(client, one, newKey()))
      } catch (error) {
        const reason = error instanceof GuildhallError ? error.message : 'no answer'
        failed.push({ row: one, reason })
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, work))
  return failed
}

type SummaryProps<Row> = {
  failures: readonly Failure<Row>[]
  show(row: Row): ReactNode
  onClose(): void
}

function FailureSummary<Row>({ failures, show, onClose }: SummaryProps<Row>) {
  return (
    <Dialog title={`${failures.length} failed`} onClose={onClose}>
      <div className="dialog-body">
        <p>All others are done. These are as they were, and still picked:</p>
        <dl className="facts">
          {failures.map(({ row, reason }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list stays as it is.
            <div key={index} style={{ display: 'contents' }}>
              <dt>{show(row)}</dt>
              <dd>{reason}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Dialog>
  )
}

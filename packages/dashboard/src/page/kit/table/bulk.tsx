import { type ConsoleClient, GuildhallError } from '@guildhall/client/console'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { newKey } from '../../data/changes.ts'
import { call } from '../../data/desk.ts'
import { Confirm } from '../dialog/confirm.tsx'
import { Dialog } from '../dialog/dialog.tsx'
import { toast } from '../dialog/toasts.tsx'
import { Text } from '../text/text.tsx'
import type { Picking } from './table-row.tsx'

export type BulkAction = {
  label: string
  /** What it does to all of them, for the question before it. */
  words: string
  danger?: boolean
  /** One of them. */
  run(desk: ConsoleClient, key: string, idempotencyKey: string): Promise<unknown>
}

type Failure = { key: string; reason: string }
/** So many requests run at a time. */
const lanes = 4

type BulkProps = {
  picking: Picking
  touches: readonly string[]
  actions: readonly BulkAction[]
  children?: ReactNode
}

/** Actions on all picked rows; what failed is listed afterwards and stays picked. */
export function BulkBar({ picking, touches, actions, children }: BulkProps) {
  const queries = useQueryClient()
  const [asked, setAsked] = useState<BulkAction>()
  const [failures, setFailures] = useState<readonly Failure[]>([])
  const count = picking.picked.size
  const run = async (action: BulkAction) => {
    const failed = await runAll([...picking.picked], action)
    for (const feature of [...touches, 'audit']) {
      void queries.invalidateQueries({ queryKey: [feature] })
    }
    setFailures(failed)
    picking.set(failed.map(({ key }) => key))
    if (failed.length < count) toast(`${action.label}: ${count - failed.length} done`)
  }
  return (
    <>
      {count > 0 && (
        <section className="bulk" aria-label="Picked rows">
          <strong>{count} picked</strong>
          {actions.map((action) => (
            <button
              key={action.label}
              type="button"
              className={action.danger ? 'danger' : ''}
              onClick={() => setAsked(action)}
            >
              {action.label}
            </button>
          ))}
          {children}
          <button type="button" className="quiet" onClick={() => picking.set([])}>
            Pick none
          </button>
        </section>
      )}
      {asked && (
        <Confirm
          title={`${asked.label}: ${count}`}
          action={asked.label}
          danger={asked.danger ?? false}
          typed={asked.danger ? `${asked.label.toLowerCase()} ${count}` : undefined}
          run={() => run(asked)}
          onClose={() => setAsked(undefined)}
        >
          {asked.words}
        </Confirm>
      )}
      {failures.length > 0 && (
        <FailureSummary failures={failures} onClose={() => setFailures([])} />
      )}
    </>
  )
}

async function runAll(keys: readonly string[], { run }: BulkAction): Promise<Failure[]> {
  const waiting = [...keys]
  const failed: Failure[] = []
  const work = async () => {
    for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) {
      const one = key
      try {
        await call((desk) => run(desk, one, newKey()))
      } catch (error) {
        const reason = error instanceof GuildhallError ? error.message : 'no answer'
        failed.push({ key: one, reason })
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, work))
  return failed
}

function FailureSummary({ failures, onClose }: { failures: readonly Failure[]; onClose(): void }) {
  return (
    <Dialog title={`${failures.length} failed`} onClose={onClose}>
      <div className="dialog-body">
        <p>All others are done. These are as they were, and still picked:</p>
        <dl className="facts">
          {failures.map(({ key, reason }) => (
            <div key={key} style={{ display: 'contents' }}>
              <dt className="mono">
                <Text>{key}</Text>
              </dt>
              <dd>{reason}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Dialog>
  )
}

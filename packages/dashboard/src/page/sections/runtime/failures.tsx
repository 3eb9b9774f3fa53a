import type { HandlerCost, HandlerFailure, ScriptActivation } from '@guildhall/contract'
import { useEffect, useState } from 'react'
import { duration, grouped } from '../../../model/time.ts'
import { pace } from '../../data/pace.ts'
import { wholeListing } from '../../data/reads.ts'
import { seenFailures, useScriptFailures } from '../../data/script-failures.ts'
import { Dialog } from '../../kit/dialog/dialog.tsx'
import { Card, Facts } from '../../kit/page.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { CopyButton } from '../../kit/text/copy.tsx'
import { NamedText } from '../../kit/text/links.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { ExactTime, Time } from '../../kit/text/time.tsx'
import { FailureTable, handlerOf, Place } from './failure-table.tsx'
import { rejectedChange } from './rejected-change.ts'

/** What fails in the script. */
export function Failures() {
  const failures = useScriptFailures()
  const items = failures.data?.items
  // What was new at the coming stays marked; elsewhere it is known from now on.
  const [sinceUnixMs] = useState(seenFailures.until)
  const [open, setOpen] = useState<HandlerFailure>()
  useEffect(() => seenFailures.see(items ?? []), [items])
  return (
    <>
      <Card title="Failures of handlers">
        <FailureTable
          label="Failures of handlers"
          listing={wholeListing(failures, items)}
          sinceUnixMs={sinceUnixMs}
          onOpen={setOpen}
        />
      </Card>
      {open && <FailureDialog failure={open} onClose={() => setOpen(undefined)} />}
    </>
  )
}

/** How the script came to serve, and which handlers use the processor most. */
export function ScriptUse() {
  const { data, ...reading } = useScriptFailures({ everyMs: pace.beside })
  return (
    <div className="columns">
      <Card title="Activations and rejections">
        <DataTable
          label="Activations and rejections"
          columns={activationColumns}
          listing={wholeListing(reading, data?.reloads)}
          rowKey={({ at_unix_ms, outcome }) => `${at_unix_ms} ${outcome}`}
          empty={<None>No script was started since the start of the node.</None>}
          inline={true}
        />
      </Card>
      <Card title="CPU by handler" extra={<span className="muted small">the last minute</span>}>
        <DataTable
          label="CPU by handler"
          columns={costColumns}
          listing={wholeListing(reading, data?.dearest)}
          rowKey={({ hook, name }) => `${hook} ${name}`}
          empty={<None>No handler ran.</None>}
          inline={true}
        />
      </Card>
    </div>
  )
}

function FailureDialog({ failure, onClose }: { failure: HandlerFailure; onClose(): void }) {
  const { reason, count, first_at_unix_ms, last_at_unix_ms, revision_id } = failure
  return (
    <Dialog title={handlerOf(failure)} onClose={onClose}>
      <div className="dialog-body">
        <div className="row note-box">
          <span className="grow break">
            <NamedText>{reason}</NamedText>
          </span>
          <CopyButton text={reason} what="reason" />
        </div>
        <Facts
          rows={{
            Place: <Place {...failure} />,
            Times: grouped(count),
            'First time': <ExactTime at={first_at_unix_ms} />,
            'Last time': <ExactTime at={last_at_unix_ms} />,
            Revision: <code>{revision_id}</code>,
          }}
        />
      </div>
    </Dialog>
  )
}

const activationColumns: readonly Column<ScriptActivation>[] = [
  { key: 'time', head: 'When', width: 100, cell: ({ at_unix_ms }) => <Time at={at_unix_ms} /> },
  {
    key: 'outcome',
    head: 'Outcome',
    width: 100,
    cell: ({ outcome }) => <Badge tone={outcome === 'active' ? 'ok' : 'bad'}>{outcome}</Badge>,
  },
  { key: 'reason', medium: true, head: 'By', width: 80, cell: ({ reason }) => reason },
  {
    key: 'revision',
    head: 'Revision',
    width: 110,
    wide: true,
    cell: ({ revision_id, generation }) =>
      revision_id === null ? <None /> : <Revision id={revision_id} generation={generation} />,
  },
  {
    key: 'problem',
    head: 'Why, or which files',
    cell: ({ problem, files }) =>
      problem === null ? <Text>{files.join(', ') || '-'}</Text> : <Problem text={problem} />,
  },
  {
    key: 'took',
    head: 'Took',
    width: 90,
    align: 'number',
    wide: true,
    cell: ({ duration_ms }) => duration(duration_ms),
  },
]

/** The first digits behind `sha256:` are enough to know revisions by. */
function Revision({ id, generation }: { id: string; generation: number }) {
  return (
    <code title={`${id}, generation ${generation}`}>{id.slice('sha256:'.length).slice(0, 10)}</code>
  )
}

/** A change of the script that was not taken, as long as none was since. */
export function RejectedChange() {
  const rejected = rejectedChange(useScriptFailures().data?.reloads ?? [])
  if (rejected === undefined) return null
  const { problem, files, generation, at_unix_ms } = rejected
  return (
    <div className="note-box" data-tone="warn" role="status">
      <strong>The last change of the script was rejected</strong> <Time at={at_unix_ms} />:{' '}
      <span className="break">
        <Text>{problem ?? ''}</Text>
      </span>
      {files.length > 0 && (
        <div className="muted small">
          <Text>{`Changed: ${files.join(', ')}. Generation ${generation} goes on.`}</Text>
        </div>
      )}
    </div>
  )
}

function Problem({ text }: { text: string }) {
  return (
    <span title={text}>
      <Text>{text}</Text>
    </span>
  )
}

const costColumns: readonly Column<HandlerCost>[] = [
  { key: 'handler', head: 'Handler', cell: (cost) => <Text>{handlerOf(cost)}</Text> },
  { key: 'calls', head: 'Calls', width: 90, align: 'number', cell: ({ calls }) => grouped(calls) },
  {
    key: 'cpu',
    head: 'CPU',
    width: 100,
    align: 'number',
    cell: ({ cpu_ms }) => `${grouped(Math.round(cpu_ms))} ms`,
  },
]

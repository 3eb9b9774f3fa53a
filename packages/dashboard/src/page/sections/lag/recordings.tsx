import { api, type LagArtifact, type LagCapture } from '@guildhall/contract'
import { useMemo, useState } from 'react'
import { bytesText, grouped } from '../../../model/time.ts'
import { useChange } from '../../data/changes.ts'
import { call } from '../../data/console-client.ts'
import { useMay } from '../../data/permissions.ts'
import { usePages } from '../../data/reads.ts'
import { Confirm } from '../../kit/dialog/confirm.tsx'
import { toast } from '../../kit/dialog/toasts.tsx'
import { downloadParts } from '../../kit/download.ts'
import { type FieldKind, integerField, type Words } from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'
import { Card } from '../../kit/page.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Copyable } from '../../kit/text/copy.tsx'
import { None } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'

const columns: readonly Column<LagArtifact>[] = [
  { key: 'handle', head: 'Handle', cell: ({ handle }) => <Copyable>{handle}</Copyable> },
  {
    key: 'received',
    head: 'Received',
    width: 110,
    medium: true,
    cell: ({ received_at_unix_ms }) => <Time at={received_at_unix_ms} />,
  },
  {
    key: 'records',
    head: 'Records',
    width: 100,
    align: 'number',
    wide: true,
    cell: ({ record_count }) => grouped(record_count),
  },
  {
    key: 'bytes',
    head: 'Bytes',
    width: 90,
    align: 'number',
    wide: true,
    cell: ({ compressed_bytes }) => bytesText(compressed_bytes),
  },
]

type Asked = { artifact: LagArtifact; what: 'delete' | 'analyse' }

/** What the devices uploaded. Each look at it is audited. */
export function Recordings({ capture }: { capture: LagCapture }) {
  const { capture_id, raw_artifact_count } = capture
  const mayDelete = useMay(api.lag.deleteRaw)
  const [asked, setAsked] = useState<Asked>()
  const listing = usePages(
    ['lag', 'raw', capture_id, raw_artifact_count],
    async (client, after?: string) => {
      const query = { after, limit: 100 }
      const page = await client.lag.raw({ params: { capture_id }, query })
      return { items: page.items, next: page.next_after }
    },
  )
  const actions: Column<LagArtifact> = {
    key: 'actions',
    head: '',
    width: 300,
    cell: (artifact) => (
      <span className="row">
        <button type="button" className="tiny" onClick={() => void save(capture_id, artifact)}>
          Download
        </button>
        {mayDelete && (
          <>
            <button
              type="button"
              className="tiny"
              onClick={() => setAsked({ artifact, what: 'analyse' })}
            >
              Analyse again
            </button>
            <button
              type="button"
              className="tiny danger"
              onClick={() => setAsked({ artifact, what: 'delete' })}
            >
              Delete
            </button>
          </>
        )}
      </span>
    ),
  }
  const close = () => setAsked(undefined)
  return (
    <Card title="Recordings">
      <DataTable
        label="Recordings"
        columns={[...columns, actions]}
        listing={listing}
        rowKey={({ handle }) => handle}
        empty={<None>No bytes are kept.</None>}
        inline={true}
      />
      {asked?.what === 'delete' && <Delete capture={capture} {...asked} onClose={close} />}
      {asked?.what === 'analyse' && <Analyse capture={capture} {...asked} onClose={close} />}
    </Card>
  )
}

async function save(capture_id: string, { handle }: LagArtifact): Promise<void> {
  try {
    const bytes = await call((client) =>
      client.lag.download({ params: { capture_id, handle }, query: {} }),
    )
    downloadParts(`${handle}.clag.gz`, [new Blob([new Uint8Array(bytes)])], 'application/gzip')
  } catch {
    toast('The recording could not be read; another node may keep it.', 'bad')
  }
}

type DialogProps = { capture: LagCapture; artifact: LagArtifact; onClose(): void }

function Delete({ capture: { capture_id }, artifact: { handle }, onClose }: DialogProps) {
  const change = useChange({
    send: (client, handle: string, idempotencyKey) =>
      client.lag.deleteRaw({ params: { capture_id, handle }, query: {}, idempotencyKey }),
    touches: ['lag'],
    done: 'Deleted the recording',
  })
  return (
    <Confirm
      title="Delete a recording"
      action="Delete"
      danger={true}
      run={() => change.mutateAsync(handle)}
      onClose={onClose}
    >
      The bytes of <code className="break">{handle}</code> go for good, and cannot be analysed
      again. Its reports stay.
    </Confirm>
  )
}

function optionalNumber(words: Words & { max: number }): FieldKind<number | undefined> {
  const { read, ...field } = integerField({ ...words, min: 1 })
  return { ...field, read: (text) => (text.trim() === '' ? { value: undefined } : read(text)) }
}

function Analyse({ capture: { capture_id }, artifact: { handle }, onClose }: DialogProps) {
  const fields = useMemo(
    () => ({
      send_rate_hz: optionalNumber({ label: 'Sends per second', max: 1000 }),
      max_windows: integerField({ label: 'Parts of the time', initial: '64', min: 1, max: 64 }),
    }),
    [],
  )
  const change = useChange({
    send: (client, options: { send_rate_hz?: number; max_windows: number }, idempotencyKey) =>
      client.lag.regenerate({
        params: { capture_id },
        query: {},
        body: { handle, options },
        idempotencyKey,
      }),
    touches: ['lag'],
    done: ({ outcome }) => outcomes[outcome],
  })
  return (
    <FormDialog
      title="Analyse again"
      action="Analyse"
      fields={fields}
      submit={({ send_rate_hz, max_windows }) =>
        change.mutateAsync({ max_windows, ...(send_rate_hz !== undefined && { send_rate_hz }) })
      }
      onClose={onClose}
    >
      <p className="muted">Other options make another report beside those that are there.</p>
    </FormDialog>
  )
}

const outcomes = {
  complete: 'The report is there',
  joined: 'The analysis is under way',
  busy: 'Too many analyses wait; nothing was changed',
  failed: 'The analysis failed',
} as const

import { api, type LagCapture } from '@guildhall/contract'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { isLive, recorderWords } from '../../../model/lag.ts'
import { bytesText, counted, inputTime } from '../../../model/time.ts'
import { useChange } from '../../data/changes.ts'
import { useDisplay } from '../../data/display.ts'
import { usePathPart } from '../../data/location.ts'
import { pace } from '../../data/pace.ts'
import { useMay } from '../../data/permissions.ts'
import { type Reading, useRead } from '../../data/reads.ts'
import { Confirm } from '../../kit/dialog/confirm.tsx'
import { Card, FactStrip, Page } from '../../kit/page.tsx'
import { Await } from '../../kit/states.tsx'
import { Copyable } from '../../kit/text/copy.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'
import { MatchLink } from '../logs/log-lines.tsx'
import { callLag, readCapture } from './lag-calls.ts'
import { CaptureState } from './lag-words.tsx'
import { Recorders } from './recorders.tsx'
import { Recordings } from './recordings.tsx'
import { Reports } from './reports.tsx'

/** One capture: who records, what came of it, and whose lag it is. */
export function CapturePage() {
  const id = usePathPart('id') ?? ''
  return <OneCapture key={id} id={id} />
}

function OneCapture({ id }: { id: string }) {
  const capture = useCapture(id)
  const { data } = capture
  const title = data?.label ?? 'Capture'
  return (
    <Page
      title={title}
      head={<Head capture={data} />}
      actions={data && isLive(data) && <End capture={data} />}
    >
      <div className="page-scroll">
        <Await query={capture}>{(found) => <Parts capture={found} />}</Await>
      </div>
    </Page>
  )
}

/** Read again as long as something may still come of it. */
function useCapture(id: string): Reading<LagCapture> {
  const [isOver, setOver] = useState(false)
  const capture = useRead(
    ['lag', 'capture', id],
    (client) => readCapture(client, id),
    isOver ? {} : { everyMs: pace.captures },
  )
  const over = capture.data !== undefined && isSettled(capture.data)
  if (over !== isOver) setOver(over)
  return capture
}

function isSettled(capture: LagCapture): boolean {
  return !isLive(capture) && capture.latest_report_status !== 'pending'
}

function Head({ capture }: { capture: LagCapture | undefined }) {
  return (
    <span className="row">
      <Link to="/lag">Lag</Link>
      <span className="muted">/</span>
      {capture && (capture.label ? <Text>{capture.label}</Text> : <None>without a label</None>)}
      {capture && <CaptureState state={capture.state} />}
    </span>
  )
}

function Parts({ capture }: { capture: LagCapture }) {
  const mayAdmin = useMay(api.lag.raw)
  return (
    <div className="stack">
      <Card title="Capture">
        <FactStrip
          rows={{
            Id: <Copyable>{capture.capture_id}</Copyable>,
            Started: <Time at={capture.created_at_unix_ms} />,
            Deadline: <Time at={capture.deadline_unix_ms} />,
            Node: <Text>{capture.node_id}</Text>,
            Match: capture.match_id === null ? <None /> : <MatchLink id={capture.match_id} />,
            Recorders: recorderWords(capture),
            ...(mayAdmin && { Kept: keptWords(capture) }),
          }}
        />
      </Card>
      <Reports capture={capture} />
      {mayAdmin && isLive(capture) && <Recorders capture={capture} />}
      {mayAdmin && <Recordings capture={capture} />}
    </div>
  )
}

function keptWords({ raw_artifact_count = 0, raw_compressed_bytes = 0 }: LagCapture): string {
  return `${counted(raw_artifact_count, 'recording')}, ${bytesText(raw_compressed_bytes)}`
}

/** So long after the deadline devices may still be asked; none where that is not known. */
function useFlushWindowMs(): number {
  const config = useRead(['config'], (client) => client.config.get({ query: {} }), {
    enabled: useMay(api.config.get),
  })
  const lag = config.data?.groups.find(({ name }) => name === 'lag_diagnostics')
  return Number(lag?.entries.find(({ key }) => key === 'flush_window_ms')?.value ?? 0)
}

/** Asks the devices to upload what they have; a capture without it comes to nothing. */
function End({ capture: { capture_id, state, deadline_unix_ms } }: { capture: LagCapture }) {
  const zone = useDisplay('zone')
  const windowMs = useFlushWindowMs()
  const mayEnd = useMay(api.runtime.rpc)
  const [isAsked, setAsked] = useState(false)
  const change = useChange({
    send: (client, payload: { capture_id: string }, idempotencyKey) =>
      callLag(client, 'lag.flush', { payload, idempotencyKey }),
    touches: ['lag'],
    done: ({ attempts }) =>
      attempts.length === 0
        ? 'Nobody records, so nobody was asked'
        : `Asked ${counted(attempts.length, 'player')} to upload`,
  })
  if (!mayEnd) return null
  return (
    <>
      {state === 'recording' && (
        <span className="small muted">
          end before {inputTime(deadline_unix_ms + windowMs, zone).slice(11)}{' '}
          {zone === 'UTC' && zone}, or nothing is kept
        </span>
      )}
      <button type="button" className="primary" onClick={() => setAsked(true)}>
        End and upload
      </button>
      {isAsked && (
        <Confirm
          title="End the recording"
          action="End and upload"
          run={() => change.mutateAsync({ capture_id })}
          onClose={() => setAsked(false)}
        >
          Recording stops on all devices, and they upload what they have. Those that miss it can be
          asked again.
        </Confirm>
      )}
    </>
  )
}

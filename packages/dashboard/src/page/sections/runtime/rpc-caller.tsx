import type { RpcAnswer } from '@guildhall/contract'
import { type FormEvent, useId, useState } from 'react'
import { duration } from '../../../model/time.ts'
import { useChange } from '../../data/changes.ts'
import { ErrorNote } from '../../kit/error-state.tsx'
import { Card } from '../../kit/page.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { CopyButton } from '../../kit/text/copy.tsx'
import { NamedText } from '../../kit/text/links.tsx'
import { Text } from '../../kit/text/text.tsx'

type Sent = { method: string; payload: string }
type Past = Sent & { id: number; answer: RpcAnswer; ms: number }

const historyMax = 20

/** Calls RPCs of the script as nobody, and keeps the last calls at hand. */
export function RpcCaller({
  methods,
  payload = '{}',
}: {
  methods: readonly string[]
  payload?: string
}) {
  const [sent, setSent] = useState<Sent>({ method: methods[0] ?? '', payload })
  const [past, setPast] = useState<readonly Past[]>([])
  const change = useChange({
    send: async (client, { method, payload }: Sent, idempotencyKey) => {
      const startMs = performance.now()
      const answer = await client.runtime.rpc({
        params: { method },
        body: { payload },
        idempotencyKey,
      })
      return { answer, ms: performance.now() - startMs }
    },
    touches: [],
    // What failed stands in the list of calls, in red.
    done: ({ answer }, { method }) => (answer.ok ? `Called ${method}` : undefined),
  })
  const call = async (event: FormEvent) => {
    event.preventDefault()
    try {
      const { answer, ms } = await change.mutateAsync(sent)
      setPast((before) => [{ ...sent, id: Date.now(), answer, ms }, ...before].slice(0, historyMax))
    } catch {
      // The note below the form says why.
    }
  }
  return (
    <Card title="Call an RPC">
      <div className="stack">
        <form className="form" onSubmit={(event) => void call(event)}>
          <CallFields
            sent={sent}
            methods={methods}
            onSent={(next) => {
              setSent(next)
              change.reset()
            }}
          />
          <ErrorNote error={change.error} />
          <div className="row">
            <span className="grow small muted">Every call is audited.</span>
            <button
              type="submit"
              className="primary"
              disabled={sent.method === '' || change.isPending}
            >
              Call
            </button>
          </div>
        </form>
        <History past={past} onAgain={({ method, payload }) => setSent({ method, payload })} />
      </div>
    </Card>
  )
}

type FieldsProps = { sent: Sent; methods: readonly string[]; onSent(sent: Sent): void }

function CallFields({ sent, methods, onSent }: FieldsProps) {
  const id = useId()
  return (
    <>
      <div className="field">
        <label htmlFor={`${id}-method`}>Method</label>
        <input
          id={`${id}-method`}
          list={`${id}-methods`}
          value={sent.method}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => onSent({ ...sent, method: target.value })}
        />
        <datalist id={`${id}-methods`}>
          {methods.map((method) => (
            <option key={method}>{method}</option>
          ))}
        </datalist>
      </div>
      <div className="field">
        <label htmlFor={`${id}-payload`}>Payload</label>
        <textarea
          id={`${id}-payload`}
          className="code"
          rows={5}
          value={sent.payload}
          spellCheck={false}
          onChange={({ target }) => onSent({ ...sent, payload: target.value })}
        />
      </div>
    </>
  )
}

/** Why and where the handler failed, which players do not see. */
function Cause({
  reason,
  place,
}: {
  reason?: string | undefined
  place?: string | null | undefined
}) {
  if (reason === undefined) return null
  return (
    <p className="small">
      <NamedText>{reason}</NamedText> {place && <code>{place}</code>}
    </p>
  )
}

function History({ past, onAgain }: { past: readonly Past[]; onAgain(past: Past): void }) {
  if (past.length === 0) return null
  return (
    <ol className="messages" aria-label="Calls, newest first">
      {past.map((one) => {
        const text = one.answer.ok ? one.answer.reply : one.answer.error
        return (
          <li key={one.id} className="message">
            <CopyButton text={text} what="answer" />
            <span className="row">
              <code>
                <Text>{one.method}</Text>
              </code>
              <Badge tone={one.answer.ok ? 'ok' : 'bad'}>{one.answer.ok ? 'ok' : 'failed'}</Badge>
              <span className="small muted">{duration(one.ms)}</span>
            </span>
            <button type="button" className="tiny" onClick={() => onAgain(one)}>
              Again
            </button>
            <div className="call-answer">
              <p className="mono">
                <NamedText>{text}</NamedText>
              </p>
              {!one.answer.ok && <Cause {...one.answer} />}
            </div>
          </li>
        )
      })}
    </ol>
  )
}

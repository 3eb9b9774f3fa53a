import { type ConsoleClient, GuildhallError } from '@guildhall/client/console'
import type {
  LagCapture,
  LagFlushed,
  LagReport,
  LagStart,
  LagStarted,
  LagState,
} from '@guildhall/contract'
import { captureCursor } from '../../../model/lag.ts'

/** What is not given has its default. */
export type Start = Pick<LagStart, 'filters' | 'duration_ms'> & Partial<LagStart>

type Calls = {
  'lag.start': { payload: Start; reply: LagStarted }
  'lag.flush': { payload: { capture_id: string }; reply: LagFlushed }
  'lag.status': { payload: { capture_id: string }; reply: LagState | null }
}

const refusals: Readonly<Record<string, string>> = {
  unavailable: 'Lag diagnostics are off on this node, or may not be started from the console.',
  not_found: 'Nobody of them can record: guests cannot, and the game has to offer it.',
  limit_exceeded: 'There are too many people, captures or recordings for the bounds of this node.',
  conflict: 'The capture is over.',
}

/**
 * Calls one of the functions that the node itself serves as RPCs.
 *
 * @throws GuildhallError with the words of a refusal
 */
export async function callLag<M extends keyof Calls>(
  client: ConsoleClient,
  method: M,
  { payload, idempotencyKey }: { payload: Calls[M]['payload']; idempotencyKey: string },
): Promise<Calls[M]['reply']> {
  const body = { payload: JSON.stringify(payload) }
  const answer = await client.runtime.rpc({ params: { method }, body, idempotencyKey })
  if (answer.ok) return JSON.parse(answer.reply)
  const words = refusals[answer.error] ?? answer.reason ?? answer.error
  throw new GuildhallError('conflict', words, { status: 409 })
}

/** @throws GuildhallError `not_found` for a capture whose row is not there any more */
export async function readCapture(client: ConsoleClient, capture_id: string) {
  const query = { after: captureCursor(capture_id), limit: 1 }
  const [found] = (await client.lag.captures({ query })).items
  if (found?.capture_id !== capture_id) {
    throw new GuildhallError('not_found', 'not found', { status: 404 })
  }
  return found
}

/** The reports of one capture, by participant; none is older than the capture. */
export async function readReports(
  client: ConsoleClient,
  capture: Pick<LagCapture, 'capture_id' | 'created_at_unix_ms' | 'report_count'>,
): Promise<LagReport[]> {
  const own: LagReport[] = []
  let after: string | undefined
  while (own.length < capture.report_count) {
    const query = { after, limit: 100 }
    const { items, next_after } = await client.lag.reports({ query })
    own.push(...items.filter(({ capture_id }) => capture_id === capture.capture_id))
    const oldest = items.at(-1)?.created_at_unix_ms ?? 0
    after = next_after
    if (after === undefined || oldest < capture.created_at_unix_ms) break
  }
  return own.toSorted((a, b) => a.participant - b.participant)
}

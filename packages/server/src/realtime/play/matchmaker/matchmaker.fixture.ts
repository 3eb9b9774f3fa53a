import { kinds, type MatchmakerMatched, type TicketStatus } from '@guildhall/contract'
import { expect } from 'vitest'
import { textOf } from '../../realtime.fixture.ts'
import { callMethod, type Player } from '../rooms/rooms.fixture.ts'

/** Clients of the matchmaker. A client that is undefined is a mistake of the test. */
type Client = Player | undefined

function there(client: Client): Player {
  if (client === undefined) throw new Error('no client')
  return client
}

/** Queues a ticket; its id, or the text of the refusal. */
export async function add(client: Client, criteria: object | string = {}): Promise<string> {
  const reply = await callMethod(there(client), 'matchmaker.add', criteria)
  return typeof reply === 'string' ? reply : (reply as { ticket_id: string }).ticket_id
}

export async function status(client: Client, ticket_id: string): Promise<TicketStatus> {
  return (await callMethod(there(client), 'matchmaker.status', { ticket_id })) as TicketStatus
}

export function cancel(client: Client, ticket_id: unknown): Promise<unknown> {
  return callMethod(there(client), 'matchmaker.cancel', { ticket_id })
}

/** The next envelope, which must be a match. */
export async function matched(client: Client): Promise<MatchmakerMatched> {
  const envelope = await there(client).next()
  expect(envelope.kind).toBe(kinds.MATCHMAKER_MATCHED.first)
  return JSON.parse(textOf(envelope.body))
}

export function accept(client: Client, match: Partial<MatchmakerMatched>): Promise<unknown> {
  const { ticket_id, join_token } = match
  return callMethod(there(client), 'matchmaker.accept', { ticket_id, join_token })
}

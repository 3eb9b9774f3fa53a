import { kinds, type MatchmakerRemoved } from '@guildhall/contract'
import { outgoingFrame } from '../../../frames/outgoing-frame.ts'
import type { Accounts } from '../../accounts.port.ts'
import type { Ticket } from './ticket.ts'

export type RemovalReason = MatchmakerRemoved['reason']

/** Sends every connection of a ticket's accounts that it has left the queue without a match. */
export function createRemovalPush(accounts: Pick<Accounts, 'deliver'>) {
  return (ticket: Pick<Ticket, 'id' | 'accounts'>, reason: RemovalReason): void => {
    const push: MatchmakerRemoved = { type: 'matchmaker.removed', ticket_id: ticket.id, reason }
    const body = new TextEncoder().encode(JSON.stringify(push))
    const frame = outgoingFrame(kinds.NOTIFICATION.first, body)
    for (const account of ticket.accounts) accounts.deliver(account, frame)
  }
}

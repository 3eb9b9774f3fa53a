import {
  frameHeaderBytes,
  kinds,
  type MatchmakerMatched,
  type PartyPush,
} from '@guildhall/contract'
import { atEndOfTurn } from '../../../kernel/clock.ts'
import { BadMessage } from '../../../kernel/cluster/wire.ts'
import { kindOf, type OutgoingFrame, outgoingFrame } from '../../frames/outgoing-frame.ts'
import type { AccountKey, Accounts } from '../../play/accounts.port.ts'
import type { GatheringRecords } from '../../play/coordination.port.ts'
import { createRemovalPush } from '../../play/matchmaker/tickets/removal-push.ts'

/** How many matches are known to have been sent. */
const sentMax = 10_000

export type Reaching = ReturnType<typeof createReaching>

/** What an edge sends its clients about tickets and parties. */
export function createReaching(local: () => Accounts) {
  const sent = new Set<string>()

  /** Whether an account has been sent a match of this ticket before. */
  function isSecond(account: AccountKey, frame: OutgoingFrame): boolean {
    const key = `${account} ${ticketOf(frame)}`
    if (sent.has(key)) return true
    sent.add(key)
    for (const first of sent) {
      if (sent.size <= sentMax) break
      sent.delete(first)
    }
    return false
  }

  return {
    /**
     * A match waits for the end of the turn: the answer that names its ticket may have come with
     * it, in one packet, and is then still on its way through promises.
     */
    deliver(account: AccountKey, frame: OutgoingFrame, except?: number): void {
      const deliver = () => local().deliver(account, frame, except)
      if (kindOf(frame) !== kinds.MATCHMAKER_MATCHED.first) deliver()
      else if (!isSecond(account, frame)) atEndOfTurn(deliver)
    },
    /** The new coordinator does not have them. */
    lost({ tickets, parties }: GatheringRecords): void {
      const pushRemoval = createRemovalPush(local())
      for (const { id, accounts } of tickets) pushRemoval({ id, accounts }, 'offline')
      for (const { id, members } of parties) {
        const push: PartyPush = { type: 'party.closed', party_id: id, reason: 'coordinator_lost' }
        const body = new TextEncoder().encode(JSON.stringify(push))
        const frame = outgoingFrame(kinds.NOTIFICATION.first, body)
        for (const { user_id } of members) local().deliver(user_id, frame)
      }
    },
  }
}

/** @throws BadMessage for a match that is none */
function ticketOf({ bytes }: OutgoingFrame): string {
  const body = Buffer.from(bytes.subarray(frameHeaderBytes))
  try {
    const matched: MatchmakerMatched = JSON.parse(body.toString('utf8'))
    return matched.ticket_id
  } catch {
    throw new BadMessage('a match that is none')
  }
}

import { type JsonObject, stringifyExact } from '@guildhall/contract'
import type { Clock } from '../../../../kernel/clock.ts'
import type { CallContext } from '../../../../kernel/play/calls.ts'
import type { RoomHooks } from '../../../../kernel/play/room-hooks.ts'
import { type AccountKey, type Accounts, accountKey } from '../../accounts.port.ts'
import type { Coordination } from '../../coordination.port.ts'
import type { MatchmakerConfig } from '../config.ts'
import { type Criteria, keptCriteria, readCriteria } from './criteria.ts'
import { Ticket } from './ticket.ts'
import type { TicketQueue } from './ticket-queue.ts'
import { changedPayload, requestOf, ticketRefused } from './ticket-request.ts'

type AddingDeps = {
  config: MatchmakerConfig
  clock: Clock
  hooks: Pick<RoomHooks, 'admit' | 'ticketAdd' | 'misanswered'>
  queue: TicketQueue
  coordination: Pick<Coordination, 'isShared'>
  accounts: Pick<Accounts, 'isOnline'>
  isFull(): boolean
  newId(): string
  /** The members of a party that its leader queues, or why not. */
  partyOf(partyId: unknown, leader: AccountKey): { accounts: AccountKey[] } | { refusal: string }
  /** The ticket waits from now on. */
  added(ticket: Ticket): void
}

/** A ticket that waits, or why there is none. */
export type Added = { ticket: Ticket } | { refusal: string }

/** Makes `matchmaker.add`: tickets as players ask for them, and as the script changes them. */
export function createAdding(deps: AddingDeps) {
  const { config, clock, hooks, queue } = deps
  /** Who waits for what the script says of its ticket: one ticket at a time. */
  const asking = new Set<AccountKey>()

  /** Whom a ticket of these criteria would be for now. */
  function membersNow(account: AccountKey, payload: JsonObject, { maxCount }: Criteria) {
    if (!hooks.admit()) return { refusal: 'game script unavailable' }
    const members = membersFor(account, payload.party_id)
    if ('refusal' in members) return members
    if (members.accounts.length > maxCount) return { refusal: 'invalid count' }
    if (members.accounts.some((each) => asking.has(each) || queue.ofAccount(each) !== undefined)) {
      return { refusal: 'ticket already queued' }
    }
    return deps.isFull() ? { refusal: 'matchmaker is temporarily unavailable' } : members
  }

  function membersFor(account: AccountKey, partyId: unknown) {
    return partyId === undefined ? { accounts: [account] } : deps.partyOf(partyId, account)
  }

  /** The script has answered: what was in order before it was asked may not be so any more. */
  function addChanged(account: AccountKey, payload: JsonObject): Added {
    const criteria = readCriteria(payload, config)
    // Nobody would take out the ticket of one who has gone meanwhile.
    if (typeof criteria === 'string' || !deps.accounts.isOnline(account)) return ticketRefused
    const members = membersNow(account, payload, criteria)
    return 'refusal' in members ? members : enqueue(payload, criteria, members.accounts)
  }

  function enqueue(
    payload: JsonObject,
    criteria: Criteria,
    accounts: readonly AccountKey[],
  ): Added {
    const ticket = new Ticket({
      id: deps.newId(),
      asked: deps.coordination.isShared ? stringifyExact(payload) : '',
      criteria: keptCriteria(criteria),
      accounts,
      partyId: typeof payload.party_id === 'string' ? payload.party_id : undefined,
      createdMs: clock.monotonicMs(),
    })
    queue.add(ticket)
    deps.added(ticket)
    return { ticket }
  }

  return (context: CallContext, payload: JsonObject): Added | Promise<Added> => {
    const account = accountKey(context)
    const criteria: Criteria | string = readCriteria(payload, config)
    if (typeof criteria === 'string') return { refusal: criteria }
    const members = membersNow(account, payload, criteria)
    if ('refusal' in members) return members
    const request = requestOf(payload, criteria, members.accounts)
    const asked = hooks.ticketAdd(context, request)
    if (asked === undefined) return enqueue(payload, criteria, members.accounts)
    asking.add(account)
    return asked.then((answer) => {
      asking.delete(account)
      const changed = changedPayload(answer, payload, request)
      if (!('refused' in changed)) return addChanged(account, changed.payload)
      const { refused, problem } = changed
      if (problem !== undefined) hooks.misanswered('on_matchmaker_add', problem)
      return { refusal: refused }
    })
  }
}

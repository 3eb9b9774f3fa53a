import { atEndOfTurn } from '../../../kernel/clock.ts'
import type { AccountKey } from '../../play/accounts.port.ts'
import type { GatheringRecords } from '../../play/coordination.port.ts'
import type { Ticket } from '../../play/matchmaker/tickets/ticket.ts'
import { recordOfTicket } from '../../play/matchmaker/tickets/ticket-record.ts'
import type { Party } from '../../play/parties/party.ts'
import { recordOfParty } from '../../play/parties/party-record.ts'

/** Sends the edges what they are to keep of tickets and parties. */
export type RecordFeed = {
  ticketChanged(ticket: Ticket): void
  partyChanged(party: Party): void
  /** Sends what has changed, at once: before the answer to whoever changed it. */
  flush(): void
  /** Sends an edge all that it is to keep: what is of its clients, and what it has said it has. */
  sendAll(boot: string, records: GatheringRecords, said: GatheringRecords): void
  clear(): void
}

type RecordFeedDeps = {
  nowMs(): number
  isServing(): boolean
  bootsOf(account: AccountKey): ReadonlySet<string>
  send(boot: string, records: GatheringRecords, isAll: boolean): void
}

export function createRecordFeed(deps: RecordFeedDeps): RecordFeed {
  const { nowMs, bootsOf } = deps
  const tickets = new Set<Ticket>()
  const parties = new Set<Party>()
  /** The edges that have something, by the id of the ticket or party. */
  const sent = new Map<string, Set<string>>()
  let isPlanned = false

  function plan(): void {
    if (isPlanned) return
    isPlanned = true
    atEndOfTurn(() => {
      isPlanned = false
      flush()
    })
  }

  /** The edges of these accounts, and those that have had the record before. */
  function edgesOf(id: string, accounts: readonly AccountKey[], isOver: boolean): Set<string> {
    const now = new Set(accounts.flatMap((account) => [...bootsOf(account)]))
    const edges = now.union(sent.get(id) ?? new Set<string>())
    if (isOver) sent.delete(id)
    else sent.set(id, now)
    return edges
  }

  function flush(): void {
    const byEdge = new Map<string, GatheringRecords>()
    const of = (boot: string): GatheringRecords => {
      const records = byEdge.get(boot) ?? { tickets: [], parties: [] }
      byEdge.set(boot, records)
      return records
    }
    for (const ticket of tickets) {
      const record = recordOfTicket(ticket, nowMs())
      const edges = edgesOf(record.id, record.accounts, record.state === 'over')
      for (const boot of edges) of(boot).tickets.push(record)
    }
    for (const party of parties) {
      const record = recordOfParty(party, nowMs())
      const edges = edgesOf(record.id, [...party.members.keys()], party.members.size === 0)
      for (const boot of edges) of(boot).parties.push(record)
    }
    tickets.clear()
    parties.clear()
    for (const [boot, records] of byEdge) deps.send(boot, records, false)
  }

  function isOf(boot: string, id: string, accounts: readonly AccountKey[]): boolean {
    const isThere = accounts.some((account) => bootsOf(account).has(boot))
    if (isThere) sent.set(id, (sent.get(id) ?? new Set()).add(boot))
    return isThere
  }

  return {
    ticketChanged(ticket) {
      if (!deps.isServing()) return
      tickets.add(ticket)
      plan()
    },
    partyChanged(party) {
      if (!deps.isServing()) return
      parties.add(party)
      plan()
    },
    flush,
    sendAll(boot, records, said) {
      const had = new Set([...said.tickets, ...said.parties].map(({ id }) => id))
      const own = {
        tickets: records.tickets.filter(({ id, accounts }) => {
          return isOf(boot, id, accounts) || had.has(id)
        }),
        parties: records.parties.filter(({ id, members }) => {
          const accounts = members.map(({ user_id }) => user_id)
          return isOf(boot, id, accounts) || had.has(id)
        }),
      }
      deps.send(boot, own, true)
    },
    clear() {
      for (const each of [tickets, parties, sent]) each.clear()
    },
  }
}

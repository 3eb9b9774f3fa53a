import type { AccountKey } from '../../play/accounts.port.ts'
import type { GatheringRecords } from '../../play/coordination.port.ts'
import type { TicketRecord } from '../../play/matchmaker/tickets/ticket-record.ts'
import type { PartyRecord, PendingRecord } from '../../play/parties/party-record.ts'

/** What an edge was last sent of the tickets and parties of its clients. */
export type KeptRecords = {
  /** Keeps the newer of each; `isAll`: and nothing else. What is lost by that. */
  keep(records: GatheringRecords, isAll: boolean): GatheringRecords
  all(): GatheringRecords
  /** Forgets what has been over for long, and what none of its accounts is here for any more. */
  sweep(isHere: (account: AccountKey) => boolean): void
}

/** Those that are over are kept for a while, so that no older record brings them back. */
const overKeptMs = 60_000

type Kept<Row> = { row: Row; sinceMs: number }

export function createKeptRecords(nowMs: () => number): KeptRecords {
  const tickets = new Map<string, Kept<TicketRecord>>()
  const parties = new Map<string, Kept<PartyRecord>>()

  function ageOf(sinceMs: number): number {
    return Math.max(0, Math.round(nowMs() - sinceMs))
  }

  function keepAll<Row extends { id: string; revision: number }>(
    known: Map<string, Kept<Row>>,
    rows: readonly Row[],
    isAll: boolean,
  ): Row[] {
    const before = new Map(known)
    if (isAll) known.clear()
    for (const row of rows) {
      const older = known.get(row.id)
      if (older !== undefined && older.row.revision > row.revision) continue
      known.set(row.id, { row, sinceMs: nowMs() })
    }
    return Array.from(before.values(), ({ row }) => row).filter(({ id }) => !known.has(id))
  }

  return {
    keep: (records, isAll) => ({
      tickets: keepAll(tickets, records.tickets, isAll).filter(({ state }) => state === 'queued'),
      parties: keepAll(parties, records.parties, isAll).filter(isLive),
    }),
    all: () => ({
      tickets: Array.from(tickets.values(), ({ row, sinceMs }) => {
        const waited_ms = row.waited_ms + ageOf(sinceMs)
        return row.state === 'queued' ? { ...row, waited_ms } : row
      }),
      parties: Array.from(parties.values(), ({ row, sinceMs }) => {
        const aged = agedBy(ageOf(sinceMs))
        return { ...row, invitations: row.invitations.map(aged), requests: row.requests.map(aged) }
      }),
    }),
    sweep(isHere) {
      const untilMs = nowMs() - overKeptMs
      for (const [id, { row, sinceMs }] of tickets) {
        if (sinceMs >= untilMs) continue
        if (row.state === 'over' || !row.accounts.some(isHere)) tickets.delete(id)
      }
      for (const [id, { row, sinceMs }] of parties) {
        if (sinceMs < untilMs && !row.members.some(({ user_id }) => isHere(user_id))) {
          parties.delete(id)
        }
      }
    },
  }
}

function agedBy(ageMs: number): (pending: PendingRecord) => PendingRecord {
  return ({ left_ms, ...rest }) =>
    left_ms === undefined ? rest : { ...rest, left_ms: Math.max(0, left_ms - ageMs) }
}

function isLive({ members }: PartyRecord): boolean {
  return members.length > 0
}

/** Of each ticket and party the newest record; those that are over are left out. */
export function newestOf(all: readonly GatheringRecords[]): GatheringRecords {
  const tickets = newest(all.flatMap((records) => records.tickets))
  const parties = newest(all.flatMap((records) => records.parties))
  return {
    tickets: tickets.filter(({ state }) => state !== 'over'),
    parties: parties.filter(isLive),
  }
}

function newest<Row extends { id: string; revision: number }>(rows: readonly Row[]): Row[] {
  const known = new Map<string, Row>()
  for (const row of rows) {
    const other = known.get(row.id)
    if (other === undefined || other.revision < row.revision) known.set(row.id, row)
  }
  return [...known.values()]
}

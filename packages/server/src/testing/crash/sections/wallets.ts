import { walletApi } from '@guildhall/contract'
import type { Queries } from '../../../database/database.ts'
import { statement } from '../../../database/statement.ts'
import type { ApiAnswer } from '../../api.ts'
import {
  expectSame,
  expectThat,
  type Operation,
  operation,
  type Section,
  succeeded,
} from '../operation.ts'
import type { Random } from '../random.ts'
import type { People } from './people.ts'
import { scriptCurrency } from './scripts.ts'
import { createSerials } from './serials.ts'
import type { Trail } from './trail.ts'

type Deps = { people: People; trail: Trail; random: Random; mark(kind: string): string }

/** A booking; its reason is a mark of its own, by which it is found again. */
type Booking = { user_id: string; currency: string; delta: number; reason: string } & Facts
type Facts = { seq: number; balance_after: number }

const currencies = ['gold', 'gems', 'wood']

/** Adjustments, half of them of one wallet that everybody changes. */
export function createWalletsSection({ people, trail, random, mark }: Deps): Section {
  const bookings = new Map<string, Booking>()
  const serials = createSerials('the ledger number')
  let ledger: StoredBooking[] = []
  let balances: StoredBalance[] = []

  function next(): Operation | undefined {
    const ids = people.ids()
    const user_id = random.chance(0.5) ? ids[0] : random.pick(ids)
    if (user_id === undefined) return undefined
    const currency = random.pick(currencies) ?? 'gold'
    return adjust({ user_id, currency, delta: random.below(150) - 50 || 1, reason: mark('book') })
  }

  function adjust(input: Omit<Booking, keyof Facts>): Operation {
    const { user_id, currency, delta, reason } = input
    return operation<Facts>({
      request: {
        method: 'POST',
        path: `/console/v1/accounts/${user_id}/wallet`,
        body: { currency, delta, reason },
      },
      heard(answer) {
        // A debit may be more than there is.
        return succeeded(answer, 200, delta < 0 ? [409] : []) ? factsOf(answer, input) : undefined
      },
      found: () => ledger.find((entry) => entry.reason === reason),
      apply({ seq, balance_after }) {
        bookings.set(reason, { ...input, seq, balance_after })
        serials.note(seq, reason)
        const details = `${verbOf(delta)} ${currency} by ${delta} -> ${balance_after}`
        trail.expect({ action: 'accounts.wallet.adjust', target: `account ${user_id}`, details })
      },
    })
  }

  return {
    weight: 8,
    next,
    async read(state: Queries) {
      ledger = await state.all(ledgerRows, {})
      balances = await state.all(balanceRows, {})
    },
    check() {
      checkLedger(ledger, bookings)
      const sums = sumsOf([...bookings.values()])
      const stored = balances.map((row) => [nameOf(row), row.balance] as const)
      expectSame(stored.sort(), [...sums].sort(), 'the balances')
      serials.restarted()
    },
  }
}

/** Retention keeps the newest entries; of what is kept nothing may be missing or different. */
function checkLedger(ledger: readonly StoredBooking[], bookings: ReadonlyMap<string, Booking>) {
  for (const { reason, ...entry } of ledger) {
    const { user_id, currency, delta, seq, balance_after } = bookings.get(reason) ?? {}
    const noted = { seq, user_id, currency, delta, balance_after }
    expectSame(entry, noted, `the entry ${reason}`)
  }
  const oldest = ledger[0]?.seq ?? 0
  const kept = new Set(ledger.map(({ reason }) => reason))
  for (const { seq, reason } of bookings.values()) {
    expectThat(seq < oldest || kept.has(reason), `the ledger lacks the entry ${seq}, ${reason}`)
  }
  expectThat(ledger.length > 0 || bookings.size === 0, 'the ledger is empty')
}

/** The balances that follow from the bookings, in whose order each must follow from the last. */
function sumsOf(bookings: readonly Booking[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const booking of bookings.toSorted((a, b) => a.seq - b.seq)) {
    const sum = (sums.get(nameOf(booking)) ?? 0) + booking.delta
    expectSame(booking.balance_after, sum, `the balance after the entry ${booking.seq}`)
    sums.set(nameOf(booking), sum)
  }
  return sums
}

/** The wallet right after the adjustment: its own entry is the newest. */
function factsOf(answer: ApiAnswer, input: Omit<Booking, keyof Facts>): Facts {
  const { balances, ledger } = walletApi.adjust.ok.parse(answer.body)
  const [newest] = ledger
  if (newest === undefined) throw new Error('an adjustment was answered without its entry')
  const { user_id, currency, delta, reason, seq } = newest
  expectSame({ user_id, currency, delta: Number(delta), reason }, input, 'the newest entry')
  const balance_after = Number(newest.balance_after)
  expectSame(Number(balances[currency]), balance_after, 'the balance in the answer')
  return { seq, balance_after }
}

function verbOf(delta: number): string {
  return delta > 0 ? 'credited' : 'debited'
}

function nameOf({ user_id, currency }: { user_id: string; currency: string }): string {
  return `${user_id} ${currency}`
}

type StoredBooking = Booking
type StoredBalance = { user_id: string; currency: string; balance: number }

const ledgerRows = statement({
  name: 'crash.ledger',
  text: `SELECT seq, user_id, currency, delta, balance_after, reason FROM wallet_ledger
    WHERE currency <> '${scriptCurrency}' ORDER BY seq`,
  row: {
    seq: 'integer',
    user_id: 'text',
    currency: 'text',
    delta: 'integer',
    balance_after: 'integer',
    reason: 'text',
  },
})

const balanceRows = statement({
  name: 'crash.balances',
  text: `SELECT user_id, currency, balance FROM wallet_balances
    WHERE currency <> '${scriptCurrency}'`,
  row: { user_id: 'text', currency: 'text', balance: 'integer' },
})

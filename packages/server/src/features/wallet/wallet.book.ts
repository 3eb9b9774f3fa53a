import { int64Max } from '@guildhall/contract'
import { type Failure, refuse } from '../../kernel/failure.ts'
import {
  type EntryRow,
  type HoldingRow,
  ledgerShown,
  type NewEntry,
  type WalletRow,
} from './wallet.store.ts'

/** A change of one balance; never of 0. */
export type Adjustment = { user_id: string; currency: string; delta: bigint; reason: string }

/** What an account has, by currency in the order of its bytes. */
type Balances = ReadonlyMap<string, bigint>

/** A wallet as it is shown; each answer has a copy of its own. */
export type WalletView = {
  balances: Balances
  /** The newest entries, newest first. */
  ledger: EntryRow[]
}

/** An adjustment that was applied, and what the account had right after it. */
export type Applied = { entry: NewEntry; balances: Balances }

export type Book = ReturnType<typeof openBook>

/**
 * The wallets of one batch of adjustments. It applies them one after another, as if each had been
 * alone, and knows what is to be stored in the end.
 */
export function openBook(rows: readonly WalletRow[], timeUnixMs: number) {
  const wallets = walletsOf(rows)
  const changes = new Map<string, { row: HoldingRow; isNew: boolean }>()

  return {
    has: (userId: string): boolean => wallets.has(userId),
    /** Applies an adjustment, or says why that cannot be; then nothing has changed. */
    apply({ user_id, currency, delta, reason }: Adjustment): Applied | Failure {
      const wallet = walletIn(wallets, user_id)
      const before = wallet.balances.get(currency)
      const balance = (before ?? 0n) + delta
      if (balance < 0n) return refuse.conflict('the balance is too low')
      if (balance > int64Max) return refuse.conflict('the balance would pass 2^63 - 1')
      const name = JSON.stringify([user_id, currency])
      const isNew = changes.get(name)?.isNew ?? before === undefined
      changes.set(name, { row: { user_id, currency, balance }, isNew })
      wallet.balances = withBalance(wallet.balances, currency, balance)
      const entry = { user_id, currency, delta, balance_after: balance, reason }
      return { entry: { ...entry, time_unix_ms: timeUnixMs }, balances: wallet.balances }
    },
    /** Puts an applied adjustment, which has its number by now, on top of its ledger. */
    enter({ entry, balances }: Applied, seq: number): WalletView {
      const wallet = walletIn(wallets, entry.user_id)
      wallet.ledger = [{ ...entry, seq }, ...wallet.ledger.slice(0, ledgerShown - 1)]
      return { balances, ledger: wallet.ledger }
    },
    /** The balances to be stored: those that were there before, and those that were not. */
    changes() {
      const all = [...changes.values()]
      return {
        changed: all.filter(({ isNew }) => !isNew).map(({ row }) => row),
        added: all.filter(({ isNew }) => isNew).map(({ row }) => row),
      }
    },
  }
}

/** What the rows say of each account that has any. */
export function walletsOf(rows: readonly WalletRow[]): Map<string, WalletView> {
  const wallets = new Map<string, { balances: Map<string, bigint>; ledger: EntryRow[] }>()
  for (const { balance, ...entry } of rows) {
    const { user_id, currency } = entry
    let wallet = wallets.get(user_id)
    if (wallet === undefined) {
      wallet = { balances: new Map(), ledger: [] }
      wallets.set(user_id, wallet)
    }
    if (balance !== null) wallet.balances.set(currency, balance)
    else if (isEntry(entry)) wallet.ledger.push(entry)
  }
  return wallets
}

function isEntry(row: Omit<WalletRow, 'balance'>): row is EntryRow {
  return row.seq !== null
}

function walletIn(wallets: Map<string, WalletView>, userId: string): WalletView {
  let wallet = wallets.get(userId)
  if (wallet === undefined) {
    wallet = { balances: new Map(), ledger: [] }
    wallets.set(userId, wallet)
  }
  return wallet
}

/** A copy, because earlier answers show the one before. */
function withBalance(balances: Balances, currency: string, balance: bigint): Balances {
  if (balances.has(currency)) return new Map(balances).set(currency, balance)
  const all: [string, bigint][] = [...balances, [currency, balance]]
  return new Map(all.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
}

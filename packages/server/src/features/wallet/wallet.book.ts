import { int64Max } from '@guildhall/contract'
import { type Failure, refuse } from '../../kernel/failure.ts'
import { preceded } from '../../kernel/json/growing-lists.ts'
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

/** A wallet as it is shown. Nothing of it ever changes: what comes next is a wallet of its own. */
export type WalletView = {
  readonly balances: Balances
  /** The newest entries, newest first. */
  readonly ledger: EntryRow[]
}

/** The wallet of each account that has one, by the account's id. */
export type Wallets = Map<string, WalletView>

/** An adjustment that was applied, and what the account had right after it. */
export type Applied = { entry: NewEntry; balances: Balances }

export type Book = ReturnType<typeof openBook>

/**
 * The wallets of one batch of adjustments. It applies them one after another, as if each had been
 * alone, and knows what is to be stored in the end.
 */
export function openBook(wallets: Wallets, timeUnixMs: number) {
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
      const balances = withBalance(wallet.balances, currency, balance)
      wallets.set(user_id, { ...wallet, balances })
      const entry = { user_id, currency, delta, balance_after: balance, reason }
      return { entry: { ...entry, time_unix_ms: timeUnixMs }, balances }
    },
    /** Puts an applied adjustment, which has its number by now, on top of its ledger. */
    enter({ entry, balances }: Applied, seq: number): WalletView {
      const before = walletIn(wallets, entry.user_id)
      const ledger = preceded(before.ledger, { ...entry, seq }, ledgerShown)
      wallets.set(entry.user_id, { ...before, ledger })
      return { balances, ledger }
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
export function walletsOf(rows: readonly WalletRow[]): Wallets {
  const wallets = new Map<string, { balances: Map<string, bigint>; ledger: EntryRow[] }>()
  for (const row of rows) {
    let wallet = wallets.get(row.user_id)
    if (wallet === undefined) {
      wallet = { balances: new Map(), ledger: [] }
      wallets.set(row.user_id, wallet)
    }
    if (row.balance !== null) wallet.balances.set(row.currency, row.balance)
    else wallet.ledger.push(entryOf(row))
  }
  return wallets
}

/** Spelled out, because a rest pattern takes many times as long, and there may be thousands. */
function entryOf(row: WalletRow): EntryRow {
  const { seq, user_id, currency, delta, balance_after, reason, time_unix_ms } = row
  if (
    seq === null ||
    delta === null ||
    balance_after === null ||
    reason === null ||
    time_unix_ms === null
  ) {
    throw new Error('a row of a wallet is neither a balance nor an entry')
  }
  return { user_id, currency, delta, balance_after, reason, time_unix_ms, seq }
}

const nothing: WalletView = { balances: new Map(), ledger: [] }

function walletIn(wallets: Wallets, userId: string): WalletView {
  return wallets.get(userId) ?? nothing
}

/** A copy, because earlier answers show the one before. */
function withBalance(balances: Balances, currency: string, balance: bigint): Balances {
  if (balances.has(currency)) return new Map(balances).set(currency, balance)
  const all: [string, bigint][] = [...balances, [currency, balance]]
  return new Map(all.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
}

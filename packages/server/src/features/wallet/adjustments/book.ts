import { int64Max } from '@guildhall/contract'
import { type Failure, refuse } from '../../../kernel/failure.ts'
import {
  type EntryRow,
  type HoldingRow,
  ledgerShown,
  type NewEntry,
  type WalletRow,
} from '../wallet.store.ts'

/** A change of one balance; never of 0. */
export type Adjustment = { user_id: string; currency: string; delta: bigint; reason: string }

/** What an account has, by currency in the order of its bytes. */
type Balances = ReadonlyMap<string, bigint>

/** A wallet as it is shown: its balances, and its newest entries, newest first. */
export type WalletView = { readonly balances: Balances; readonly ledger: EntryRow[] }

/** An adjustment that was applied; with the balances right after it where they are shown. */
export type Applied = { entry: NewEntry; balances: Balances | undefined }

export type Book = ReturnType<typeof openBook>

/**
 * The wallets of one batch of adjustments. It applies them one after another, as if each had been
 * alone, and knows what is to be stored in the end. `holdings` come in the order of their
 * currencies; `ledgers` are those of the accounts whose wallet is shown.
 */
export function openBook(
  holdings: readonly HoldingRow[],
  ledgers: ReadonlyMap<string, EntryRow[]>,
  timeUnixMs: number,
) {
  const wallets = new Map<string, Map<string, bigint>>()
  for (const { user_id, currency, balance } of holdings) {
    const wallet = wallets.get(user_id)
    if (wallet === undefined) wallets.set(user_id, new Map([[currency, balance]]))
    else wallet.set(currency, balance)
  }
  const shown = new Map(ledgers)
  const changes = new Map<string, { row: HoldingRow; isNew: boolean }>()

  return {
    has: (userId: string): boolean => wallets.has(userId),
    /** Applies an adjustment, or says why that cannot be; then nothing has changed. */
    apply({ user_id, currency, delta, reason }: Adjustment): Applied | Failure {
      const wallet = wallets.get(user_id) ?? new Map<string, bigint>()
      const before = wallet.get(currency)
      const balance = (before ?? 0n) + delta
      if (balance < 0n) return refuse.conflict('the balance is too low')
      if (balance > int64Max) return refuse.conflict('the balance would pass 2^63 - 1')
      const name = JSON.stringify([user_id, currency])
      const isNew = changes.get(name)?.isNew ?? before === undefined
      changes.set(name, { row: { user_id, currency, balance }, isNew })
      wallet.set(currency, balance)
      wallets.set(user_id, before === undefined ? inByteOrder(wallet) : wallet)
      const balances = shown.has(user_id) ? new Map(wallets.get(user_id)) : undefined
      const entry = { user_id, currency, delta, balance_after: balance, reason }
      return { entry: { ...entry, time_unix_ms: timeUnixMs }, balances }
    },
    /**
     * The wallet right after an applied adjustment, which has its number by now. The applied ones
     * of an account come in their order, also those whose view nobody wants.
     */
    enter({ entry, balances }: Applied, seq: number): WalletView | undefined {
      const before = shown.get(entry.user_id)
      if (before === undefined || balances === undefined) return undefined
      const ledger = [{ ...entry, seq }, ...before.slice(0, ledgerShown - 1)]
      shown.set(entry.user_id, ledger)
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
export function walletsOf(rows: readonly WalletRow[]): Map<string, WalletView> {
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

function inByteOrder(balances: Balances): Map<string, bigint> {
  const all = [...balances]
  return new Map(all.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
}

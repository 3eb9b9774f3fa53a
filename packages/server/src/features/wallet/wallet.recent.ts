import type { Transaction } from '../../database/database.ts'
import { type Wallets, walletsOf } from './wallet.book.ts'
import { type EntryRow, type HeadRow, ledgerShown, walletStore } from './wallet.store.ts'

export type RecentLedgers = ReturnType<typeof createRecentLedgers>

/** Accounts whose entries are remembered. */
const accountsMax = 500
/** Letters of all reasons of an account beyond which its entries are not worth their memory. */
const reasonLettersMax = 20_000

type Ledger = EntryRow[]

/**
 * The newest entries of the accounts that were adjusted last. Every answer shows a hundred entries,
 * and reading them would cost many times what the adjustment itself does. An entry never changes,
 * so what is remembered is right as long as none came or went; the reader makes sure of that.
 */
export function createRecentLedgers() {
  const ledgers = new Map<string, Ledger>()
  return {
    of: (userId: string): Ledger | undefined => ledgers.get(userId),
    /** Remembers the ledgers of wallets whose transaction has committed. */
    keep(wallets: Wallets): void {
      for (const [userId, { ledger }] of wallets) {
        // The end of a Map is its newest member, so its beginning is what nobody used for longest.
        ledgers.delete(userId)
        if (reasonLetters(ledger) <= reasonLettersMax) ledgers.set(userId, ledger)
      }
      for (const userId of ledgers.keys()) {
        if (ledgers.size <= accountsMax) return
        ledgers.delete(userId)
      }
    },
  }
}

function reasonLetters(ledger: Ledger): number {
  let letters = 0
  for (const { reason } of ledger) letters += reason.length
  return letters
}

/**
 * The wallets of these accounts as they are now. What is remembered of a ledger is compared with
 * what the database counts, which also knows of other nodes and of entries that were removed; it is
 * read as a whole where the two differ.
 */
export async function readWallets(
  tx: Transaction,
  userIds: Iterable<string>,
  recent: RecentLedgers,
): Promise<Wallets> {
  const known: { user_id: string; from_seq: number; ledger: Ledger }[] = []
  const unknown: { user_id: string }[] = []
  for (const user_id of userIds) {
    const ledger = recent.of(user_id)
    if (ledger === undefined) unknown.push({ user_id })
    else known.push({ user_id, from_seq: beginningOf(ledger), ledger })
  }
  const [rows, heads] = await Promise.all([
    walletStore.wallets(tx, unknown),
    walletStore.heads(
      tx,
      known.map(({ user_id, from_seq }) => ({ user_id, from_seq })),
    ),
  ])
  const wallets = walletsOf(rows)
  const isCurrent = addKnown(wallets, recent, heads)
  const outdated = known.filter(({ user_id }) => !isCurrent.has(user_id))
  const again = outdated.map(({ user_id }) => ({ user_id }))
  for (const [userId, wallet] of walletsOf(await walletStore.wallets(tx, again))) {
    wallets.set(userId, wallet)
  }
  return wallets
}

/** A ledger that is full says nothing of older entries; another one has all that there are. */
function beginningOf(ledger: Ledger): number {
  return ledger.length < ledgerShown ? 0 : (ledger.at(-1)?.seq ?? 0)
}

/** Adds the wallets whose remembered ledger is what there is; answers whose these are. */
function addKnown(
  wallets: Wallets,
  recent: RecentLedgers,
  heads: readonly HeadRow[],
): ReadonlySet<string> {
  const balances = new Map<string, Map<string, bigint>>()
  const current = new Set<string>()
  for (const { user_id, currency, balance, entries, oldest_seq } of heads) {
    const known = balances.get(user_id) ?? new Map<string, bigint>()
    balances.set(user_id, known)
    if (balance !== null) known.set(currency, balance)
    const ledger = recent.of(user_id)
    if (entries === null || entries !== ledger?.length) continue
    if ((ledger.at(-1)?.seq ?? null) !== oldest_seq) continue
    current.add(user_id)
    wallets.set(user_id, { balances: known, ledger })
  }
  return current
}

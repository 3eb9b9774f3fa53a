import type { Transaction } from '../../database/database.ts'
import { beginning } from '../../kernel/json/growing-lists.ts'
import { type Wallets, walletsOf } from './wallet.book.ts'
import { type EntryRow, type HeadRow, ledgerShown, walletStore } from './wallet.store.ts'

export type RecentLedgers = ReturnType<typeof createRecentLedgers>

/** Accounts whose entries are remembered. */
const accountsMax = 500
/** Letters of all reasons of an account beyond which its entries are not worth their memory. */
const reasonLettersMax = 20_000

type Ledger = EntryRow[]
type Remembered = { ledger: Ledger; currencies: string }

/**
 * The newest entries of the accounts that were adjusted last. Every answer shows a hundred entries,
 * and reading them would cost many times what the adjustment itself does. An entry never changes,
 * so what is remembered is right as long as none came or went; the reader makes sure of that.
 *
 * Whoever adds an entry has locked all balances of the account that there are, and draws its number
 * after that. So of two who know of the same balances the second has the higher numbers: what came
 * after a ledger was read shows as a newer entry than its newest, or as a balance that it does not
 * know. That needs a ledger which was read by one who had locked all balances that were read with
 * it. What went are the oldest entries, because the ledger is kept to a number of the newest.
 */
export function createRecentLedgers() {
  const ledgers = new Map<string, Remembered>()
  return {
    of: (userId: string): Remembered | undefined => ledgers.get(userId),
    /** Remembers the ledgers of wallets whose transaction has committed. */
    keep(wallets: Wallets): void {
      for (const [userId, { ledger, balances }] of wallets) {
        // The end of a Map is its newest member, so its beginning is what nobody used for longest.
        ledgers.delete(userId)
        if (reasonLetters(ledger) > reasonLettersMax) continue
        ledgers.set(userId, { ledger, currencies: currenciesOf(balances) })
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

function currenciesOf(balances: ReadonlyMap<string, bigint>): string {
  return JSON.stringify([...balances.keys()])
}

/**
 * The wallets of these accounts as they are now. What is remembered of a ledger is compared with
 * where the entries end in the database, which also knows of other nodes and of entries that were
 * removed; it is read as a whole where another node has added some.
 */
export async function readWallets(
  tx: Transaction,
  userIds: Iterable<string>,
  recent: RecentLedgers,
): Promise<Wallets> {
  const known: { user_id: string; from_seq: number }[] = []
  const unknown: { user_id: string }[] = []
  for (const user_id of userIds) {
    const { ledger } = recent.of(user_id) ?? {}
    if (ledger === undefined) unknown.push({ user_id })
    else known.push({ user_id, from_seq: beginningOf(ledger) })
  }
  const [rows, heads] = await Promise.all([
    walletStore.wallets(tx, unknown),
    walletStore.heads(tx, known),
  ])
  const wallets = walletsOf(rows)
  addKnown(wallets, recent, heads)
  const outdated = known.filter(({ user_id }) => !wallets.has(user_id))
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

/** Adds the wallets whose remembered ledger has all that there is. */
function addKnown(wallets: Wallets, recent: RecentLedgers, heads: readonly HeadRow[]): void {
  const balancesOf = new Map<string, Map<string, bigint>>()
  for (const { user_id, currency, balance } of heads) {
    const balances = balancesOf.get(user_id) ?? new Map<string, bigint>()
    balancesOf.set(user_id, balances)
    if (balance !== null) balances.set(currency, balance)
  }
  for (const { user_id, balance, newest_seq, oldest_seq } of heads) {
    const remembered = recent.of(user_id)
    const balances = balancesOf.get(user_id)
    if (balance !== null || remembered === undefined || balances === undefined) continue
    if (remembered.currencies !== currenciesOf(balances)) continue
    const ledger = leftOf(remembered.ledger, newest_seq, oldest_seq)
    if (ledger !== undefined) wallets.set(user_id, { balances, ledger })
  }
}

/** A remembered ledger without what went since; undefined when something came. */
function leftOf(ledger: Ledger, newest: number | null, oldest: number | null): Ledger | undefined {
  if (newest === null) return []
  if (ledger[0]?.seq !== newest) return undefined
  const left = ledger.findLastIndex(({ seq }) => seq === oldest) + 1
  if (left === 0) return undefined
  return left === ledger.length ? ledger : beginning(ledger, left)
}

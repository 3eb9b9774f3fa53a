import type { Queries, Transaction } from '../../../database/database.ts'
import { inTheirOrder } from '../../../database/writes/in-their-order.ts'
import type { CombinedResult } from '../../../kernel/batching/combiner.ts'
import { Failure, refuse } from '../../../kernel/failure.ts'
import type { Done } from '../../../kernel/mutation.ts'
import { type EntryRow, walletStore } from '../wallet.store.ts'
import { type Applied, type Book, openBook, type WalletView, walletsOf } from './book.ts'
import { type Booking, type KeyedAdjustment, openKeys, type UsedKeys } from './keys.ts'

export type BatchDeps = {
  nowUnixMs: number
  /** Keys that were used up to then are forgotten. */
  expiredUnixMs: number
  accountExists(tx: Queries, id: string): Promise<boolean>
}

/** An adjustment; `shows`: its answer has the newest entries of the wallet right after it. */
export type BatchItem = KeyedAdjustment & { shows: boolean }

/** What was booked, and the wallet right after it where the item asks for that. */
export type Adjusted = { booking: Booking & { replayed: boolean }; view: WalletView | undefined }

type Outcome =
  | { is: 'refused'; failure: Failure }
  | { is: 'replayed'; booking: Booking }
  | { is: 'applied'; applied: Applied; booking: Booking }

/**
 * Applies adjustments in their order, each as if it had been alone, with one statement of each kind
 * for all of them.
 */
export async function adjustAll(
  tx: Transaction,
  items: readonly BatchItem[],
  deps: BatchDeps,
): Promise<CombinedResult<Done<Adjusted>>[]> {
  const { holdings, ledgers, keys } = await lockAndRead(tx, items, deps)
  const book = openBook(holdings, ledgers, deps.nowUnixMs)
  // Accounts are never removed, so whoever has a balance is known to exist. The others are asked
  // for together: each wait is a round trip in which the wallets stay locked.
  const unknown = usersOf(items).filter((id) => !book.has(id))
  const found = await inTheirOrder(unknown.map((id) => deps.accountExists(tx, id)))
  const strangers = new Set(unknown.filter((_, at) => !found[at]))
  const outcomes = items.map((item): Outcome => {
    if (strangers.has(item.user_id)) return { is: 'refused', failure: unknownAccount() }
    return decide(item, book, keys)
  })
  const applied = outcomes.filter((outcome) => outcome.is === 'applied')
  await store(tx, book, applied)
  await keys.store()
  return outcomes.map((outcome) => resultOf(outcome, book))
}

/**
 * The balances, which nothing else can change any more, and the newest entries of the wallets that
 * are shown. A balance that another node opened meanwhile shows there and has no lock: then all is
 * locked and read once more.
 */
async function lockAndRead(tx: Transaction, items: readonly BatchItem[], deps: BatchDeps) {
  const rowOf = (user_id: string) => ({ user_id })
  const users = usersOf(items).map(rowOf)
  const shownUsers = usersOf(items.filter(({ shows }) => shows))
  for (;;) {
    // The locks come first: what is read after them stays true until the commit.
    const [holdings, rows, keys] = await Promise.all([
      walletStore.lock(tx, users),
      walletStore.wallets(tx, shownUsers.map(rowOf)),
      openKeys(tx, items, deps),
    ])
    const wallets = walletsOf(rows)
    const locked = new Set(holdings.map(({ user_id, currency }) => `${user_id}\0${currency}`))
    const isLocked = ([id, { balances }]: [string, WalletView]) =>
      balances.keys().every((currency) => locked.has(`${id}\0${currency}`))
    if ([...wallets].every(isLocked)) {
      const ledgers = new Map<string, EntryRow[]>()
      for (const id of shownUsers) ledgers.set(id, wallets.get(id)?.ledger ?? [])
      return { holdings, ledgers, keys }
    }
  }
}

function usersOf(items: readonly BatchItem[]): string[] {
  return [...new Set(items.map(({ user_id }) => user_id))]
}

function decide(item: KeyedAdjustment, book: Book, keys: UsedKeys): Outcome {
  const before = keys.find(item)
  if (before instanceof Failure) return { is: 'refused', failure: before }
  if (before !== undefined) return { is: 'replayed', booking: before }
  const applied = book.apply(item)
  if (applied instanceof Failure) return { is: 'refused', failure: applied }
  const booking = { balance: applied.entry.balance_after, seq: 0 }
  keys.record(item, booking)
  return { is: 'applied', applied, booking }
}

/** Writes the new balances and the entries, which get their numbers in the order of application. */
async function store(
  tx: Transaction,
  book: Book,
  outcomes: readonly { applied: Applied; booking: Booking }[],
): Promise<void> {
  const { changed, added } = book.changes()
  const entries = outcomes.map(({ applied }) => applied.entry)
  const [numbers] = await Promise.all([
    walletStore.append(tx, entries),
    walletStore.setBalances(tx, changed),
    walletStore.addBalances(tx, added),
  ])
  for (const [index, { booking }] of outcomes.entries()) booking.seq = numbers[index] ?? 0
}

function resultOf(outcome: Outcome, book: Book): CombinedResult<Done<Adjusted>> {
  if (outcome.is === 'refused') return { ok: false, error: outcome.failure }
  if (outcome.is === 'replayed') {
    const answer = { booking: { ...outcome.booking, replayed: true }, view: undefined }
    return { ok: true, value: { answer, target: '', details: '' } }
  }
  const { user_id, currency, delta } = outcome.applied.entry
  const booking = { ...outcome.booking, replayed: false }
  const view = book.enter(outcome.applied, booking.seq)
  const verb = delta > 0n ? 'credited' : 'debited'
  const details = `${verb} ${currency} by ${delta} -> ${booking.balance}`
  const target = `account ${user_id}`
  return { ok: true, value: { answer: { booking, view }, target, details, shown: () => view } }
}

export function unknownAccount(): Failure {
  return refuse.notFound('no such account')
}

import type { Queries, Transaction } from '../../database/database.ts'
import type { CombinedResult } from '../../kernel/batching/combiner.ts'
import { Failure, refuse } from '../../kernel/failure.ts'
import type { Done } from '../../kernel/http/mutation.ts'
import { type Applied, type Book, openBook, type Wallets, type WalletView } from './wallet.book.ts'
import { type Booking, type KeyedAdjustment, openKeys, type UsedKeys } from './wallet.keys.ts'
import { type RecentLedgers, readWallets } from './wallet.recent.ts'
import { type Pair, walletStore } from './wallet.store.ts'

export type BatchDeps = {
  nowUnixMs: number
  /** Keys that were used up to then are forgotten. */
  expiredUnixMs: number
  recent: RecentLedgers
  accountExists(tx: Queries, id: string): Promise<boolean>
}

/** The wallet right after an adjustment, and what was booked. */
export type Adjusted = WalletView & { booking: Booking & { replayed: boolean } }

export type AdjustedBatch = {
  results: CombinedResult<Done<Adjusted>>[]
  /** The wallets as the batch leaves them, once it is committed, that may be remembered. */
  wallets: Wallets
}

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
  items: readonly KeyedAdjustment[],
  deps: BatchDeps,
): Promise<AdjustedBatch> {
  const users = new Set(items.map(({ user_id }) => user_id))
  const { locked, wallets, keys } = await lockAndRead(tx, items, { ...deps, users })
  const certain = lockedWhole(wallets, locked)
  const book = openBook(wallets, deps.nowUnixMs)
  const strangers = new Set<string>()
  for (const id of users) {
    // Accounts are never removed, so whoever has a balance is known to exist.
    if (!book.has(id) && !(await deps.accountExists(tx, id))) strangers.add(id)
  }
  const outcomes = items.map((item): Outcome => {
    if (strangers.has(item.user_id)) return { is: 'refused', failure: unknownAccount() }
    return decide(item, book, keys)
  })
  const applied = outcomes.filter((outcome) => outcome.is === 'applied')
  await store(tx, book, applied)
  await keys.store()
  const results = outcomes.map((outcome) => resultOf(outcome, book))
  return { results, wallets: new Map([...wallets].filter(([userId]) => certain.has(userId))) }
}

/**
 * The wallets, as nobody else can change them any more. Whoever has no balance has nothing to be
 * locked: where another node opened the wallet meanwhile, it is locked and read once more.
 */
async function lockAndRead(
  tx: Transaction,
  items: readonly KeyedAdjustment[],
  { users, ...deps }: BatchDeps & { users: ReadonlySet<string> },
) {
  const rows = [...users].map((user_id) => ({ user_id }))
  for (;;) {
    // The locks come first: what is read after them stays true until the commit.
    const [locked, wallets, keys] = await Promise.all([
      walletStore.lock(tx, rows),
      readWallets(tx, users, deps.recent),
      openKeys(tx, items, deps),
    ])
    const held = new Set(locked.map(({ user_id }) => user_id))
    if ([...wallets].every(([id, { balances }]) => balances.size === 0 || held.has(id))) {
      return { locked, wallets, keys }
    }
  }
}

function decide(item: KeyedAdjustment, book: Book, keys: UsedKeys): Outcome {
  const before = keys.find(item)
  if (before instanceof Failure) return { is: 'refused', failure: before }
  if (before !== undefined) return { is: 'replayed', booking: before }
  const applied = book.apply(item)
  if (applied instanceof Failure) return { is: 'refused', failure: applied }
  const booking = { balance: applied.entry.balance_after, seq: 0 }
  keys.remember(item, booking)
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
  const replayed = outcome.is === 'replayed'
  const booking = { ...outcome.booking, replayed }
  if (outcome.is === 'replayed') {
    const view = { balances: new Map(), ledger: [] }
    return { ok: true, value: { answer: { ...view, booking }, target: '', details: '' } }
  }
  const { user_id, currency, delta } = outcome.applied.entry
  const view = book.enter(outcome.applied, booking.seq)
  const verb = delta > 0n ? 'credited' : 'debited'
  const details = `${verb} ${currency} by ${delta} -> ${booking.balance}`
  const value = { answer: { ...view, booking }, target: `account ${user_id}`, details }
  return { ok: true, value }
}

/** The accounts all of whose balances were locked before their wallets were read. */
function lockedWhole(wallets: Wallets, locked: readonly Pair[]): ReadonlySet<string> {
  const counts = new Map<string, number>()
  for (const { user_id } of locked) counts.set(user_id, (counts.get(user_id) ?? 0) + 1)
  const whole = [...counts].filter(([id, count]) => wallets.get(id)?.balances.size === count)
  return new Set(whole.map(([id]) => id))
}

export function unknownAccount(): Failure {
  return refuse.notFound('no such account')
}

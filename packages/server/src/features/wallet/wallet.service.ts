import {
  type Database,
  type Queries,
  type Transaction,
  UniqueViolation,
} from '../../database/database.ts'
import { mergedTransactions } from '../../database/writes/merged-writes.ts'
import type { CombinedResult } from '../../kernel/batching/combiner.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { MutateMany, Mutation } from '../../kernel/mutation.ts'
import { type Adjusted, adjustAll, type BatchItem, unknownAccount } from './adjustments/batch.ts'
import { type WalletView, walletsOf } from './adjustments/book.ts'
import type { Booking, KeyedAdjustment } from './adjustments/keys.ts'
import { type EntryRow, walletStore } from './wallet.store.ts'

export type WalletDeps = {
  db: Database
  clock: Clock
  config: { idempotency_retention_days: number }
  mutateMany: MutateMany<Transaction>
  /** Whether an account has this id, in whatever state. */
  accountExists(tx: Queries, id: string): Promise<boolean>
}

/** An adjustment as it is asked for. */
type Adjustment = Omit<KeyedAdjustment, 'reason'> & { reason?: string | undefined }

type Item = BatchItem & { mutation: Mutation }

export type WalletService = ReturnType<typeof createWallets>

/** Which entries of a ledger: those before a number, from the newest on. */
type LedgerPage = { limit: number; offset: number; before?: number | undefined }

/** The most adjustments of one transaction. */
const itemsMax = 256
const attemptsMax = 5

/**
 * Balances and their ledger. Adjustments that are asked for at the same time share a transaction,
 * in which they are applied one after another: a wallet that everybody changes is locked once for
 * many of them, and each still has its own verdict and its own balance.
 */
export function createWallets({ db, clock, config, mutateMany, accountExists }: WalletDeps) {
  const keyLifeMs = config.idempotency_retention_days * 86_400_000

  const adjust = mergedTransactions<Item, Adjusted>(db, {
    itemsMax,
    async run(items) {
      for (let made = 1; ; made += 1) {
        const nowUnixMs = clock.nowUnixMs()
        const expiredUnixMs = nowUnixMs - keyLifeMs
        const deps = { nowUnixMs, expiredUnixMs, accountExists }
        try {
          return await mutateMany(items, (tx, left) => adjustAll(tx, left, deps), {
            isolation: 'read committed',
          })
        } catch (error) {
          // Another node has just added a balance or a key: now it is there to be read.
          if (!(error instanceof UniqueViolation) || made >= attemptsMax) throw error
        }
      }
    },
  })

  /** The entries of an account, newest first. */
  async function ledger(userId: string, page: LedgerPage): Promise<EntryRow[]> {
    const { before = Number.MAX_SAFE_INTEGER, limit, offset } = page
    const range = { user_id: userId, before, wanted: limit, skipped: offset }
    const rows = await walletStore.ledger(db, range)
    if (rows.length === 0 && !(await accountExists(db, userId))) throw unknownAccount()
    return rows
  }

  return {
    async get(userId: string): Promise<WalletView> {
      const rows = await walletStore.wallets(db, [{ user_id: userId }])
      const wallet = walletsOf(rows).get(userId)
      if (wallet !== undefined) return wallet
      if (!(await accountExists(db, userId))) throw unknownAccount()
      return { balances: new Map(), ledger: [] }
    },
    ledger,
    /** A page of them, and where the next one begins. */
    async page(userId: string, { before, limit }: Omit<LedgerPage, 'offset'>) {
      const rows = await ledger(userId, { before, limit: limit + 1, offset: 0 })
      const items = rows.slice(0, limit)
      const last = rows.length > limit ? items.at(-1) : undefined
      return { items, ...(last && { next_before: last.seq }) }
    },
    /** An adjustment that answers the wallet right after it: its newest entries are read for it. */
    async adjust(mutation: Mutation, request: Adjustment): Promise<WalletView> {
      const { view } = await adjust({
        ...request,
        ...reasonOf(request, mutation),
        mutation,
        shows: true,
      })
      if (view === undefined) throw new Error('an adjustment shows its wallet')
      return view
    },
    /**
     * An adjustment that answers what was booked and reads no ledger. The same key with the same
     * currency and delta is booked once; a repeat answers the first booking with `replayed`.
     */
    async book(mutation: Mutation, request: Adjustment): Promise<Adjusted['booking']> {
      return (await adjust({ ...request, ...reasonOf(request, mutation), mutation, shows: false }))
        .booking
    },
    /**
     * Adjustments as part of a transaction of another feature, which must be `read committed`: in
     * their order, each with its own verdict.
     */
    async bookIn(
      tx: Transaction,
      mutation: Mutation,
      requests: readonly Adjustment[],
    ): Promise<CombinedResult<Booking>[]> {
      const nowUnixMs = clock.nowUnixMs()
      const deps = { nowUnixMs, expiredUnixMs: nowUnixMs - keyLifeMs, accountExists }
      const items = requests.map((request) => ({
        ...request,
        ...reasonOf(request, mutation),
        shows: false,
      }))
      const results = await adjustAll(tx, items, deps)
      return results.map((result) => {
        if (!result.ok) return result
        const { balance, seq } = result.value.answer.booking
        return { ok: true, value: { balance, seq } }
      })
    },
  }
}

/** The balances of an account by currency, in the order of its bytes. */
export async function balancesOf(tx: Queries, userId: string): Promise<Map<string, bigint>> {
  const rows = await walletStore.balances(tx, userId)
  return new Map(rows.map(({ currency, balance }) => [currency, balance]))
}

function reasonOf({ reason }: Adjustment, { actor }: Mutation) {
  return { reason: reason ?? `${actor.kind === 'script' ? 'script' : 'console'} adjustment` }
}

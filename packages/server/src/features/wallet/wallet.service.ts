import {
  type Database,
  type Queries,
  type Transaction,
  UniqueViolation,
} from '../../database/database.ts'
import { createCombiner } from '../../kernel/batching/combiner.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { MutateMany, Mutation } from '../../kernel/http/mutation.ts'
import { type Adjusted, adjustAll, type BatchDeps, unknownAccount } from './wallet.batch.ts'
import { type Wallets, type WalletView, walletsOf } from './wallet.book.ts'
import type { KeyedAdjustment } from './wallet.keys.ts'
import { createRecentLedgers } from './wallet.recent.ts'
import { walletStore } from './wallet.store.ts'

export type WalletDeps = {
  db: Database
  clock: Clock
  config: { idempotency_retention_days: number }
  mutateMany: MutateMany<Transaction>
  /** Whether an account has this id, in whatever state. */
  accountExists(tx: Queries, id: string): Promise<boolean>
}

/** An adjustment as it is asked for. */
type Wish = Omit<KeyedAdjustment, 'reason'> & { reason?: string | undefined }

type Item = KeyedAdjustment & { mutation: Mutation | undefined }

export type WalletService = ReturnType<typeof createWallets>

const defaultReason = 'console adjustment'
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

  const recent = createRecentLedgers()

  async function adjustOnce(items: readonly Item[], deps: BatchDeps) {
    let wallets: Wallets | undefined
    const adjustLeft = async (tx: Transaction, left: readonly Item[]) => {
      const batch = await adjustAll(tx, left, deps)
      wallets = batch.wallets
      return batch.results
    }
    const results = await mutateMany(items, adjustLeft, { isolation: 'read committed' })
    recent.keep(wallets ?? new Map())
    return results
  }

  const adjust = createCombiner<Item, Adjusted>({
    itemsMax,
    async run(items) {
      for (let made = 1; ; made += 1) {
        const nowUnixMs = clock.nowUnixMs()
        const expiredUnixMs = nowUnixMs - keyLifeMs
        const deps = { nowUnixMs, expiredUnixMs, accountExists, recent }
        try {
          return await adjustOnce(items, deps)
        } catch (error) {
          // Another node has just added a balance or a key: now it is there to be read.
          if (!(error instanceof UniqueViolation) || made >= attemptsMax) throw error
        }
      }
    },
  })

  return {
    async get(userId: string): Promise<WalletView> {
      const rows = await walletStore.wallets(db, [{ user_id: userId }])
      const wallet = walletsOf(rows).get(userId)
      if (wallet !== undefined) return wallet
      if (!(await accountExists(db, userId))) throw unknownAccount()
      return { balances: new Map(), ledger: [] }
    },
    /** An operator's adjustment; answers the wallet right after it. */
    async adjust(mutation: Mutation, wish: Wish): Promise<WalletView> {
      const { balances, ledger } = await adjust({ ...wish, ...reasonOf(wish), mutation })
      return { balances, ledger }
    },
    /**
     * An adjustment with the authority of the runtime. The same key with the same currency and
     * delta is booked once, and answers what was booked.
     */
    async book(wish: Wish): Promise<Adjusted['booking']> {
      return (await adjust({ ...wish, ...reasonOf(wish), mutation: undefined })).booking
    },
  }
}

/** The balances of an account by currency, in the order of its bytes. */
export async function balancesOf(tx: Queries, userId: string): Promise<Map<string, bigint>> {
  const rows = await walletStore.balances(tx, userId)
  return new Map(rows.map(({ currency, balance }) => [currency, balance]))
}

function reasonOf({ reason = defaultReason }: Wish) {
  return { reason }
}

import type { JsonObject } from '@guildhall/contract'
import { type Database, type Transaction, UniqueViolation } from '../../database/database.ts'
import type { CombinedResult } from '../../kernel/batching/combiner.ts'
import type { Clock } from '../../kernel/clock.ts'
import { atIndex, Failure, refuse } from '../../kernel/failure.ts'
import type { Mutation } from '../../kernel/mutation.ts'
import type { Transact } from '../../kernel/tasks/lease.ts'
import type {
  Booked,
  NotifyOperation,
  ObjectOperation,
  Operation,
  Result,
  WalletOperation,
} from './operations.ts'
import { digestOf, resultsIn } from './transactions.keys.ts'
import { transactionsStore } from './transactions.store.ts'

export type Options = { idempotency_key?: string | undefined; as?: string | undefined }

type Asking = { as?: string | undefined }
type NewNotification = {
  user_id: string | null
  subject: string
  content: JsonObject
  code: number
}

/** What the features do within a transaction; each holds the rules of its single calls. */
export type TransactionsDeps<Prepared = unknown, Stored extends { id: number } = { id: number }> = {
  db: Database
  clock: Clock
  config: { idempotency_retention_days: number }
  wallet: {
    /** In their order. One that is refused has left nothing behind. */
    bookIn(
      tx: Transaction,
      mutation: Mutation,
      items: readonly WalletOperation[],
    ): Promise<CombinedResult<Booked>[]>
  }
  storage: {
    /**
     * Checks writes and deletes, and asks the filters of indexes, before the transaction.
     *
     * @throws Failure with the position of the first that is refused
     */
    prepare(items: readonly ObjectOperation[], asking: Asking): Promise<readonly Prepared[]>
    apply(
      tx: Transaction,
      items: readonly Prepared[],
    ): Promise<CombinedResult<{ version: string } | { removed: boolean }>[]>
  }
  notifications: {
    /** Answers the rows in their order. */
    store(tx: Transaction, items: readonly NewNotification[]): Promise<readonly Stored[]>
    /** Sends a stored notification to its receivers. */
    push(row: Stored): void
  }
}

export type Transactions = ReturnType<typeof createTransactions>

/** Each time somebody else has got further, so nobody is refused for meeting others. */
const attemptsMax = 16

/**
 * Operations on wallets, stored objects and notifications that are done together or not at all, in
 * their order. Operations of one kind are done together: no kind sees what another does, so the
 * outcome is that of one after another. The kinds take their locks in one order, for everybody.
 */
export function createTransactions<Prepared, Stored extends { id: number }>(
  deps: TransactionsDeps<Prepared, Stored>,
) {
  const { db, clock } = deps
  const keyLifeMs = deps.config.idempotency_retention_days * 86_400_000

  /** Does the operations; the first that is refused ends the transaction. */
  async function perform(tx: Transaction, plan: Plan<Prepared>) {
    const { mutation, wallets, objects, notices, prepared } = plan
    const booked = await deps.wallet.bookIn(tx, mutation, wallets.items)
    const changed = await deps.storage.apply(tx, prepared)
    const results: Result[] = []
    const failures = [
      ...settle(booked, wallets, results),
      ...settle(changed, objects, results),
    ].sort((a, b) => a.index - b.index)
    const [first] = failures
    if (first !== undefined) throw refusalAt(first.error, first.index)
    const rows = await storeNotices(tx, notices.items)
    for (const [at, { id }] of rows.entries()) results[notices.indexes[at] ?? 0] = { id }
    return { results, pushed: rows.filter((_, at) => notices.items[at]?.push === true) }
  }

  /** Last, because from here on every other change of the notifications waits. */
  async function storeNotices(tx: Transaction, items: readonly NotifyOperation[]) {
    if (items.length === 0) return []
    return deps.notifications.store(
      tx,
      items.map(({ user_id = null, subject, content = {}, code = 0 }) => {
        return { user_id, subject, content, code }
      }),
    )
  }

  /** The results of the call that used the key before, or undefined when the key is taken now. */
  async function replayed(tx: Transaction, key: string, digest: Buffer) {
    const now = clock.nowUnixMs()
    const expired_unix_ms = now - keyLifeMs
    await transactionsStore.dropExpired(tx, { idempotency_key: key, expired_unix_ms })
    const row = { idempotency_key: key, request_digest: digest, results: {} }
    if (await transactionsStore.take(tx, { ...row, created_at_unix_ms: now })) return undefined
    const known = await transactionsStore.find(tx, key)
    if (known === undefined) throw new Error('a key that is in use cannot be read')
    if (!digest.equals(known.request_digest)) {
      throw refuse.conflict('the idempotency key was used for other operations')
    }
    return resultsIn(known.results)
  }

  async function once(plan: Plan<Prepared>, key: string | undefined) {
    return db.transaction(
      async (tx) => {
        const before = key === undefined ? undefined : await replayed(tx, key, plan.digest)
        if (before !== undefined) return { replayed: true, results: before, pushed: [] }
        const { results, pushed } = await perform(tx, plan)
        if (key !== undefined) {
          const row = { idempotency_key: key, results: { results } }
          await transactionsStore.setResults(tx, row)
        }
        return { replayed: false, results, pushed }
      },
      // Under a key a second run finds what the first one has done.
      { isolation: 'read committed', idempotent: key !== undefined },
    )
  }

  async function transact(
    mutation: Mutation,
    operations: readonly Operation[],
    { idempotency_key: key, as }: Options = {},
  ) {
    const parts = partsOf(operations)
    const prepared = await deps.storage
      .prepare(parts.objects.items, { as })
      .catch((error: unknown) => rethrowAt(error, parts.objects.indexes))
    const plan = { ...parts, mutation, prepared, digest: digestOf(operations, as) }
    for (let made = 1; ; made += 1) {
      try {
        const { pushed, ...outcome } = await once(plan, key)
        for (const row of pushed) deps.notifications.push(row)
        return outcome
      } catch (error) {
        // Another node has just added a balance or an object: now it is there to be locked.
        if (!(error instanceof UniqueViolation) || made >= attemptsMax) throw error
      }
    }
  }

  return {
    /**
     * Does up to 64 operations together. The same key with the same operations is done once, and
     * answers the first results with `replayed`.
     *
     * @throws Failure with the index of the operation that was the first to be refused
     */
    transact,
    /** Moves an amount from one account to another: a debit, then a credit. */
    async transfer(
      mutation: Mutation,
      request: Transfer,
    ): Promise<{ from: Booked; to: Booked; replayed: boolean }> {
      const { from, to, currency, amount, reason = 'transfer', idempotency_key } = request
      if (from === to) throw refuse.invalid('from and to must be two accounts')
      const booking = { op: 'wallet', currency, reason } as const
      const { results, replayed } = await transact(
        mutation,
        [
          { ...booking, user_id: from, delta: -amount },
          { ...booking, user_id: to, delta: amount },
        ],
        { idempotency_key },
      ).catch(rethrowUnknown)
      const [debit, credit] = results
      if (!isBooked(debit) || !isBooked(credit)) throw new Error('a transfer books twice')
      return { from: debit, to: credit, replayed }
    },
    /** Removes up to `batchItems` keys past their life; answers how many. */
    prune: (batchItems: number, run: Transact<Transaction> = db.transaction) =>
      run((tx) => {
        const expired_unix_ms = clock.nowUnixMs() - keyLifeMs
        return transactionsStore.prune(tx, { expired_unix_ms, batch_items: batchItems })
      }),
  }
}

export type Transfer = {
  from: string
  to: string
  currency: string
  amount: bigint
  reason?: string | undefined
  idempotency_key?: string | undefined
}

/** Operations of one kind, with their positions among all. */
type Part<T> = { items: T[]; indexes: number[] }

type Parts = {
  wallets: Part<WalletOperation>
  objects: Part<ObjectOperation>
  notices: Part<NotifyOperation>
}
type Plan<Prepared> = Parts & {
  mutation: Mutation
  prepared: readonly Prepared[]
  digest: Buffer
}

function partsOf(operations: readonly Operation[]): Parts {
  const part = <T>(): Part<T> => ({ items: [], indexes: [] })
  const parts: Parts = { wallets: part(), objects: part(), notices: part() }
  const add = <T>({ items, indexes }: Part<T>, item: T, index: number) => {
    items.push(item)
    indexes.push(index)
  }
  for (const [index, operation] of operations.entries()) {
    if (operation.op === 'wallet') add(parts.wallets, operation, index)
    else if (operation.op === 'notify') add(parts.notices, operation, index)
    else add(parts.objects, operation, index)
  }
  return parts
}

/** Puts the results of one kind in their places; answers what was refused. */
function settle(
  outcomes: readonly CombinedResult<Result>[],
  { indexes }: Part<unknown>,
  results: Result[],
): { error: unknown; index: number }[] {
  return outcomes.flatMap((outcome, at) => {
    const index = indexes[at] ?? 0
    if (!outcome.ok) return [{ error: outcome.error, index }]
    results[index] = outcome.value
    return []
  })
}

/** What was refused is counted among its kind; the caller counts among all. */
function rethrowAt(error: unknown, indexes: readonly number[]): never {
  if (!(error instanceof Failure)) throw error
  throw refusalAt(error, indexes[error.index ?? 0] ?? 0)
}

/** Of a transfer, whose accounts are only looked at by those who book. */
function rethrowUnknown(error: unknown): never {
  if (!(error instanceof Failure) || error.code !== 'not_found') throw error
  const { index = 0 } = error
  throw atIndex(refuse.notFound(`there is no account ${index === 0 ? 'from' : 'to'}`), index)
}

function refusalAt(error: unknown, index: number): unknown {
  return error instanceof Failure ? atIndex(error, index) : error
}

function isBooked(result: Result | undefined): result is Booked {
  return result !== undefined && 'balance' in result
}

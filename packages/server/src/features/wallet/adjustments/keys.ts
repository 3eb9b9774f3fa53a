import type { Transaction } from '../../../database/database.ts'
import { type Failure, refuse } from '../../../kernel/failure.ts'
import { type KeyRow, walletStore } from '../wallet.store.ts'
import type { Adjustment } from './book.ts'

/** What became of an adjustment: the balance that it left and its number in the ledger. */
export type Booking = { balance: bigint; seq: number }

export type KeyedAdjustment = Adjustment & { idempotency_key?: string | undefined }

/** The idempotency keys of one batch of adjustments, with what was booked under them. */
export type UsedKeys = Awaited<ReturnType<typeof openKeys>>

/**
 * Reads what is known of the keys of a batch. It must come after the locks, so that what another
 * node has just booked is seen.
 */
export async function openKeys(
  tx: Transaction,
  items: readonly KeyedAdjustment[],
  { nowUnixMs, expiredUnixMs }: { nowUnixMs: number; expiredUnixMs: number },
) {
  const asked = new Map(items.flatMap((item) => (isKeyed(item) ? [[nameOf(item), item]] : [])))
  const rows = await walletStore.keys(tx, [...asked.values()].map(keyOf))
  const expired = rows.filter((row) => row.created_at_unix_ms <= expiredUnixMs)
  const live = rows.filter((row) => row.created_at_unix_ms > expiredUnixMs)
  const known = new Map<string, Use>()
  for (const row of live) known.set(nameOf(row), { ...row, booking: bookingOf(row) })
  const added: (KeyedAdjustment & { idempotency_key: string; booking: Booking })[] = []

  return {
    /** What was booked under the item's key before, if anything. */
    find(item: KeyedAdjustment): Booking | Failure | undefined {
      const use = isKeyed(item) ? known.get(nameOf(item)) : undefined
      if (use === undefined) return undefined
      if (use.currency === item.currency && use.delta === item.delta) return use.booking
      return refuse.conflict('the idempotency key was used for another adjustment')
    },
    /** `booking` may get its number later. */
    record(item: KeyedAdjustment, booking: Booking): void {
      if (!isKeyed(item)) return
      known.set(nameOf(item), { ...item, booking })
      added.push({ ...item, booking })
    },
    /** @throws UniqueViolation when another node has just used one of the keys */
    async store(): Promise<void> {
      await walletStore.removeKeys(tx, expired.map(keyOf))
      await walletStore.addKeys(
        tx,
        added.map(({ currency, delta, booking, ...item }) => ({
          ...keyOf(item),
          currency,
          delta,
          balance_after: booking.balance,
          seq: booking.seq,
          created_at_unix_ms: nowUnixMs,
        })),
      )
    },
  }
}

type Use = Pick<KeyRow, 'currency' | 'delta'> & { booking: Booking }
type Key = Pick<KeyRow, 'user_id' | 'idempotency_key'>

function isKeyed(item: KeyedAdjustment): item is KeyedAdjustment & { idempotency_key: string } {
  return item.idempotency_key !== undefined
}

function keyOf({ user_id, idempotency_key }: Key): Key {
  return { user_id, idempotency_key }
}

function nameOf({ user_id, idempotency_key }: Key): string {
  return JSON.stringify([user_id, idempotency_key])
}

function bookingOf({ balance_after, seq }: KeyRow): Booking {
  return { balance: balance_after, seq }
}

import { z } from 'zod'
import { storageOwner } from '../shapes/storage.ts'
import { optional } from '../values/fields.ts'
import { int64 } from '../values/numbers.ts'
import { once } from '../values/once.ts'
import { options } from './fields.ts'
import { idempotencyKey } from './keys.ts'
import { newNotification } from './notifications.ts'
import { defineScriptApi } from './script-api.ts'
import { storageDelete, storageWrite } from './storage.ts'
import { adjustment } from './wallet.ts'

/** One operation of a transaction, in the form of its single call. */
export const TransactOp = once(() =>
  z.discriminatedUnion('op', [
    z.strictObject({ op: z.literal('wallet'), ...adjustment() }),
    storageWrite(),
    storageDelete(),
    z.strictObject({ op: z.literal('notify'), ...newNotification() }),
  ]),
)
export type TransactOp = z.output<ReturnType<typeof TransactOp>>

export const transactOpsMax = 64

export const transactScript = defineScriptApi({
  transact: {
    doc: 'Up to 64 operations in one transaction: all of them or none, in their order.',
    example: [
      'await guildhall.transact([',
      "  { op: 'wallet', user_id, currency: 'gold', delta: -5 },",
      "  { op: 'write', owner: user_id, collection: 'bag', key: 'sword', value: { level: 1 } },",
      '])',
    ],
    args: () => ({
      ops: z.array(TransactOp()).min(1).max(transactOpsMax),
      options: options({
        idempotency_key: optional(idempotencyKey),
        as: optional(storageOwner),
      }),
    }),
    operations: 'ops',
    ok: () =>
      z.strictObject({
        replayed: z.boolean(),
        results: z.array(
          z.union([
            z.strictObject({ balance: int64, seq: z.int() }),
            z.strictObject({ version: z.string() }),
            z.strictObject({ removed: z.boolean() }),
            z.strictObject({ id: z.int() }),
          ]),
        ),
      }),
    errors: ['not_found', 'conflict', 'forbidden', 'unavailable'],
    tier: 'trusted',
    runs: 'node',
  },
})

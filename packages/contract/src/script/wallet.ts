import { z } from 'zod'
import { Adjustment, LedgerEntry } from '../shapes/wallet.ts'
import { optional, presentReference } from '../values/fields.ts'
import { int64Max } from '../values/int64.ts'
import { int64, int64ByName } from '../values/numbers.ts'
import { once } from '../values/once.ts'
import { options, pageBefore, pageLimit, pageOffset, raw } from './fields.ts'
import { idempotencyKey } from './keys.ts'
import { defineScriptApi } from './script-api.ts'

const userId = presentReference()

/** What one booking of a transfer left. */
const Booked = once(() => z.strictObject({ balance: int64, seq: z.int().min(1) }))

const trusted = { tier: 'trusted', runs: 'node' } as const
/** For answers that are handed on. */
const handedOn = { raw: true, ...trusted } as const

/** The members of one adjustment, for transact too. */
export const adjustment = once(() => {
  const { currency, delta, reason } = Adjustment().shape
  return { user_id: userId, currency, delta, reason }
})

export const walletScript = defineScriptApi({
  'wallet.get': {
    doc: 'The balances of an account by currency.',
    args: () => ({ user_id: userId }),
    ok: () => int64ByName,
    errors: ['not_found'],
    ...trusted,
  },
  'wallet.adjust': {
    doc: 'Adds to or takes from a balance; never below zero.',
    example: ["await guildhall.wallet.adjust(ctx.user_id, 'gold', -5, { reason: 'sword' })"],
    args: () => {
      const { reason, ...members } = adjustment()
      return { ...members, options: options({ reason, idempotency_key: optional(idempotencyKey) }) }
    },
    ok: () => z.strictObject({ ...Booked().shape, replayed: z.boolean() }),
    errors: ['not_found', 'conflict'],
    ...trusted,
  },
  'wallet.ledger': {
    doc: 'The bookings of an account, newest first; `before` compares seq.',
    args: () => ({
      user_id: presentReference(),
      options: options({
        limit: pageLimit({ default: 50, cap: 200 }),
        offset: pageOffset,
        before: pageBefore,
        raw,
      }),
    }),
    ok: () => z.array(LedgerEntry()),
    errors: ['not_found'],
    ...handedOn,
  },
  'wallet.transfer': {
    doc: 'Moves an amount of one currency from one account to another, all or nothing.',
    args: () => {
      const { currency, reason } = adjustment()
      return {
        from: userId,
        to: userId,
        currency,
        amount: int64.refine((value) => value > 0n && value <= int64Max, {
          error: 'must be 1 to 2^63 - 1',
        }),
        options: options({ reason, idempotency_key: optional(idempotencyKey) }),
      }
    },
    ok: () => z.strictObject({ from: Booked(), to: Booked(), replayed: z.boolean() }),
    errors: ['not_found', 'conflict', 'unavailable'],
    ...trusted,
  },
})

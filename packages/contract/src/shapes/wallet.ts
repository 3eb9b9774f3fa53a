import { z } from 'zod'
import { label, optional, reference, unixMs } from '../values/fields.ts'
import { int64, int64Delta } from '../values/numbers.ts'
import { once } from '../values/once.ts'

/** One booking, with the balance that it left. */
export const LedgerEntry = once(() =>
  z.strictObject({
    seq: z.int().min(1).meta({ description: 'Grows over the whole deployment' }),
    user_id: z.string(),
    currency: z.string(),
    delta: int64,
    balance_after: int64,
    reason: z.string(),
    time_unix_ms: unixMs,
  }),
)

export const Adjustment = once(() =>
  z.strictObject({
    currency: label(64),
    delta: int64Delta,
    reason: optional(reference()),
  }),
)

import { z } from 'zod'
import { unixMs } from '../values/fields.ts'
import { once } from '../values/once.ts'

/** A relation as one side sees it. */
export const Friend = once(() =>
  z.strictObject({
    user_id: z.string().meta({ description: 'The other account' }),
    state: z.enum(['invited_sent', 'invited_received', 'friend', 'blocked']),
    updated_unix_ms: unixMs,
  }),
)
export type Friend = z.output<ReturnType<typeof Friend>>

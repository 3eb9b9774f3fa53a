import { z } from 'zod'
import { count, limit, unixMs } from '../values/fields.ts'
import { offset } from '../values/numbers.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

/** Incidents of one kind at one place of the code; nothing of any request. */
export const JournalEntry = once(() =>
  z.strictObject({
    fingerprint: z.string(),
    kind: z.string(),
    category: z.string(),
    component: z.string(),
    message: z.string(),
    first_seen_ms: unixMs,
    last_seen_ms: unixMs,
    count,
  }),
)
export type JournalEntry = z.output<ReturnType<typeof JournalEntry>>

export const errorJournalApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/errors',
    access: 'operator',
    scope: 'errors:read',
    summary: 'Errors and crashes of this node by fingerprint, the one seen last first',
    ofNode: true,
    query: () => z.strictObject({ offset, limit: limit({ default: 100, cap: 100 }) }),
    ok: () =>
      z.strictObject({
        entries: z.array(JournalEntry()),
        total: count,
        next_offset: count.nullable(),
      }),
  },
})

import { z } from 'zod'
import { durableId } from '../values/durable-ids.ts'
import { count, limit, reference, unixMs } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { auditActions } from './audit-actions.ts'
import { scopes } from './principals.ts'
import { defineApi } from './route.ts'

/** One recorded action. The three key fields are present for API keys only. */
export const AuditEntry = once(() =>
  z.strictObject({
    time_unix_ms: unixMs,
    actor_type: z.enum(['human', 'api_key', 'script']),
    actor: z.string(),
    credential_id: z.string().optional(),
    key_name: z.string().optional(),
    scopes: z.array(z.enum(scopes)).optional(),
    role: z.enum(['admin', 'viewer', 'api_key', '-']),
    action: z.enum(auditActions),
    target: z.string(),
    details: z.string(),
    match_id: z.string().optional(),
  }),
)
export type AuditEntry = z.output<ReturnType<typeof AuditEntry>>

export const auditApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/audit',
    access: 'operator',
    scope: 'audit:read',
    trail: 'ring',
    summary: 'The audit trail, newest first',
    query: () =>
      z.strictObject({
        limit: limit({ default: 100, cap: 500 }),
        actor: reference().optional(),
        action: reference().optional().meta({ description: 'Literal prefix of the action' }),
        match_id: reference().optional(),
        after: durableId('au1-').optional(),
      }),
    ok: () =>
      z.strictObject({
        entries: z.array(AuditEntry()),
        retained: count,
        capacity: count,
        next_after: z.string().optional(),
        durable: z.boolean(),
        dropped_total: count,
      }),
  },
})

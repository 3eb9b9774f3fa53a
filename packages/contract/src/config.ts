import { z } from 'zod'
import { defineApi } from './route.ts'

export const configApi = defineApi({
  get: {
    method: 'GET',
    path: '/console/v1/config',
    access: 'operator',
    scope: 'config:read',
    summary: 'The effective configuration as it was at start, secrets redacted',
    ok: z.strictObject({
      node_id: z.string(),
      version: z.string(),
      backend: z.enum(['in-memory', 'sqlite', 'postgres']),
      groups: z.array(
        z.strictObject({
          name: z.string(),
          entries: z.array(z.strictObject({ key: z.string(), value: z.string() })),
        }),
      ),
    }),
  },
})

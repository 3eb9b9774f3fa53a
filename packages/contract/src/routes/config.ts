import { z } from 'zod'
import { defineApi } from './route.ts'

export const configApi = defineApi({
  get: {
    method: 'GET',
    path: '/console/v1/config',
    access: 'operator',
    scope: 'config:read',
    summary: 'The effective configuration as it was at start, secrets redacted',
    ofNode: true,
    query: () =>
      z.strictObject({
        sources: z.enum(['true', 'false']).optional().meta({
          description: 'true says of each entry where its value came from',
        }),
      }),
    ok: () =>
      z.strictObject({
        node_id: z.string(),
        version: z.string(),
        backend: z.enum(['in-memory', 'sqlite', 'postgres']),
        groups: z.array(
          z.strictObject({
            name: z.string(),
            entries: z.array(
              z.strictObject({
                key: z.string(),
                value: z.string(),
                source: z.string().optional().meta({
                  description: '"default", or the line of a file, the variable or the flag',
                }),
              }),
            ),
          }),
        ),
      }),
  },
})

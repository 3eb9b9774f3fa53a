import { z } from 'zod'
import { bytes, resultBytes } from './fields.ts'
import { defineScriptApi } from './script-api.ts'

export const httpScript = defineScriptApi({
  'http.fetch': {
    doc: 'Sends an HTTP request to a public host; a response of any status is a success.',
    args: () => ({
      request: z.strictObject({
        url: z.string(),
        method: z.string().optional(),
        headers: z.record(z.string(), z.string()).optional(),
        body: bytes.optional(),
        timeout_ms: z.int().min(1).optional().meta({ description: 'At most 5,000' }),
      }),
    }),
    ok: () =>
      z.strictObject({
        status: z.int(),
        headers: z.record(z.string(), z.string()),
        body: resultBytes,
      }),
    errors: ['http_error'],
    tier: 'trusted',
    runs: 'node',
  },
})

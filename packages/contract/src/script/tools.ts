import { z } from 'zod'
import { once } from '../values/once.ts'
import { bytes, json, resultBytes } from './fields.ts'
import { defineScriptApi } from './script-api.ts'

export const traceLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const

/** What a failing handler says beside its text. */
const failOptions = once(() =>
  z.strictObject({
    code: z
      .string()
      .regex(/^[a-z0-9_.]{1,64}$/)
      .optional(),
    data: json.optional(),
  }),
)

export const toolsScript = defineScriptApi({
  fail: {
    doc:
      'Ends an RPC handler with an error text of 1 to 256 bytes for the client, and a code and ' +
      'data of at most 4 KiB of JSON for its program. In a hook that answers nothing it drops ' +
      'what the slice has done.',
    example: [
      "if (gold < price) guildhall.fail('not enough gold')",
      "guildhall.fail('not enough gold', { code: 'gold', data: { missing: price - gold } })",
    ],
    args: () => ({ text: z.string(), options: failOptions().optional() }),
    ok: () => z.never(),
    tier: 'sandboxed',
    runs: 'worker',
  },
  trace: {
    doc: "Writes a line to the node's own log at once, at most 100 a second and 4,096 characters.",
    args: () => ({ message: z.string(), level: z.enum(traceLevels).optional() }),
    tier: 'sandboxed',
    runs: 'worker',
  },
  pack_u64: {
    doc: 'An integer from 0 to 2^64 - 1 as 8 bytes, the highest first.',
    args: () => ({ n: z.union([z.int(), z.bigint()]).meta({ ts: 'number | bigint' }) }),
    ok: () => resultBytes,
    tier: 'sandboxed',
    runs: 'worker',
  },
  'json.encode': {
    doc: 'A value as JSON in UTF-8 without white space; a bigint becomes a JSON integer.',
    args: () => ({ value: json.meta({ ts: 'GuildhallJson' }) }),
    ok: () => resultBytes,
    tier: 'sandboxed',
    runs: 'worker',
  },
  'json.decode': {
    doc: 'The value of a JSON text of at most 64 levels; integers beyond 2^53 are bigint.',
    args: () => ({ body: bytes }),
    ok: () => json,
    tier: 'sandboxed',
    runs: 'worker',
  },
})

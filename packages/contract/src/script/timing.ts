import { z } from 'zod'
import { key } from '../values/fields.ts'
import { task } from './fields.ts'
import { defineScriptApi } from './script-api.ts'

const dayMs = 86_400_000

export const timingScript = defineScriptApi({
  after: {
    doc: 'Runs a function once after a time, without sender and room; timers end with the worker.',
    args: () => ({ delay_ms: z.int().min(1).max(dayMs), fn: task }),
    ok: () => z.int().meta({ description: 'What cancel takes' }),
    errors: ['limit_exceeded'],
    tier: 'sandboxed',
    runs: 'worker',
  },
  every: {
    doc: 'Runs a function each interval; a run is skipped while the one before has not settled.',
    args: () => ({ interval_ms: z.int().min(10).max(dayMs), fn: task }),
    ok: () => z.int().meta({ description: 'What cancel takes' }),
    errors: ['limit_exceeded'],
    tier: 'sandboxed',
    runs: 'worker',
  },
  sleep: {
    doc: 'Waits; other handlers run meanwhile. The time of the whole call still holds.',
    example: ['await guildhall.sleep(500)'],
    args: () => ({ ms: z.int().min(1).max(dayMs) }),
    tier: 'sandboxed',
    runs: 'node',
  },
  cancel: {
    doc: 'Stops a timer; false if there is none (any more).',
    args: () => ({ timer: z.int() }),
    ok: () => z.boolean(),
    tier: 'sandboxed',
    runs: 'worker',
  },
  now_ms: {
    doc: 'Wall time of the node in Unix milliseconds.',
    args: {},
    ok: () => z.int(),
    tier: 'sandboxed',
    runs: 'worker',
  },
  allow: {
    doc: 'Takes one of the tokens of a key, which come back evenly over the window; false if none.',
    example: ["if (!guildhall.allow('emote:' + ctx.sender, 5, 10_000)) return"],
    args: () => ({
      key: key(256),
      limit: z.int().min(1).max(1_000_000),
      window_ms: z.int().min(1).max(dayMs),
    }),
    ok: () => z.boolean(),
    tier: 'sandboxed',
    runs: 'worker',
  },
})

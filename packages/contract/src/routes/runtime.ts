import { z } from 'zod'
import { count, key, unixMs } from '../values/fields.ts'
import { defineApi } from './route.ts'

const Readiness = z.strictObject({
  state: z.enum(['no_script', 'validating', 'ready', 'activating', 'degraded', 'unavailable']),
  revision_id: z.string().nullable(),
  generation: count,
  since_unix_millis: unixMs,
  recovery: z.strictObject({
    circuit_open: z.boolean(),
    consecutive_failures: count,
    restart_limit: count,
  }),
})

/** The game's script and what runs it; every key is there, and what is unknown is null. */
export const RuntimeView = z.strictObject({
  enabled: z.boolean(),
  configured_language: z.string().nullable(),
  selected_language: z.string().nullable(),
  selection_source: z.enum(['explicit', 'autodetected']).nullable(),
  entrypoint: z.string().nullable(),
  adapter: z.string(),
  tier: z.enum(['trusted', 'sandboxed']),
  attached: z.boolean().meta({ description: 'Whether a script serves calls' }),
  tick_hz: count,
  require_script: z.boolean(),
  readiness: Readiness,
  script: z
    .strictObject({
      source: z.string(),
      reloadable: z.boolean(),
      deadline_ms: count,
      rpcs: z.array(z.string()),
      message_kinds: z.array(count),
      hooks: z.array(z.string()),
    })
    .nullable(),
})
export type RuntimeView = z.output<typeof RuntimeView>

/** What became of a call: the reply, or a text that the script chose or a fixed one. */
export const RpcAnswer = z.union([
  z.strictObject({ ok: z.literal(true), reply: z.string() }),
  z.strictObject({ ok: z.literal(false), error: z.string() }),
])
export type RpcAnswer = z.output<typeof RpcAnswer>

export const runtimeApi = defineApi({
  get: {
    method: 'GET',
    path: '/console/v1/runtime',
    access: 'operator',
    scope: 'runtime:read',
    summary: 'The game’s script of this node, its state and what it registered',
    ok: RuntimeView,
  },
  rpc: {
    method: 'POST',
    path: '/console/v1/runtime/rpc/{method}',
    access: 'admin',
    audit: 'runtime.rpc',
    summary: 'Calls an RPC of the script as nobody; what it answers is shown as UTF-8',
    params: z.strictObject({ method: key(128) }),
    body: z.strictObject({ payload: z.string() }),
    ok: RpcAnswer,
    errors: ['runtime_unavailable'],
  },
})

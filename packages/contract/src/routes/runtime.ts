import { z } from 'zod'
import { count, key, unixMs } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

const Readiness = once(() =>
  z.strictObject({
    state: z.enum(['no_script', 'validating', 'ready', 'activating', 'degraded', 'unavailable']),
    revision_id: z.string().nullable(),
    generation: count,
    since_unix_millis: unixMs,
    recovery: z.strictObject({
      circuit_open: z.boolean(),
      consecutive_failures: count,
      restart_limit: count,
    }),
  }),
)

/** The game's script and what runs it; every key is there, and what is unknown is null. */
export const RuntimeView = once(() =>
  z.strictObject({
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
    readiness: Readiness(),
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
  }),
)
export type RuntimeView = z.output<ReturnType<typeof RuntimeView>>

const place = z
  .string()
  .nullable()
  .meta({ description: 'FILE:LINE of the script; null where it is not known' })

/**
 * What became of a call: the reply, or a text that the script chose or a fixed one. Of a handler
 * that failed an operator also reads why and where.
 */
export const RpcAnswer = once(() =>
  z.union([
    z.strictObject({ ok: z.literal(true), reply: z.string() }),
    z.strictObject({
      ok: z.literal(false),
      error: z.string(),
      reason: z.string().optional(),
      place: place.optional(),
    }),
  ]),
)
export type RpcAnswer = z.output<ReturnType<typeof RpcAnswer>>

const hook = z.string().meta({ description: 'Name of the hook, or `timer`' })
const name = z.string().meta({ description: 'RPC method, or message kind; else empty' })

/** A handler that fails at one place in one way, and how often. */
export const HandlerFailure = once(() =>
  z.strictObject({
    hook,
    name,
    reason: z.string().meta({ description: 'What the script threw last, or which limit it met' }),
    place,
    count,
    first_at_unix_ms: unixMs,
    last_at_unix_ms: unixMs,
    revision_id: z.string().meta({ description: 'That of the last time' }),
  }),
)
export type HandlerFailure = z.output<ReturnType<typeof HandlerFailure>>

/** A script that began to serve, or one that was rejected. */
export const ScriptActivation = once(() =>
  z.strictObject({
    at_unix_ms: unixMs,
    outcome: z.enum(['active', 'rejected']),
    reason: z.enum(['boot', 'reload', 'restart', 'rollback', 'signal']),
    revision_id: z.string().nullable(),
    generation: count.meta({ description: 'The one that serves after it' }),
    files: z.array(z.string()).meta({ description: 'Which files changed, at most 20' }),
    duration_ms: count,
    problem: z.string().nullable().meta({ description: 'Why it was rejected' }),
  }),
)
export type ScriptActivation = z.output<ReturnType<typeof ScriptActivation>>

/** How much CPU a handler used in the last minute. */
export const HandlerCost = once(() =>
  z.strictObject({
    hook,
    name,
    calls: count,
    cpu_ms: z.number().min(0),
  }),
)
export type HandlerCost = z.output<ReturnType<typeof HandlerCost>>

/** What goes wrong in the script of this node and what it costs; kept in memory. */
export const ScriptFailures = once(() =>
  z.strictObject({
    items: z.array(HandlerFailure()),
    reloads: z.array(ScriptActivation()),
    dearest: z.array(HandlerCost()),
  }),
)
export type ScriptFailures = z.output<ReturnType<typeof ScriptFailures>>

export const runtimeApi = defineApi({
  get: {
    method: 'GET',
    path: '/console/v1/runtime',
    access: 'operator',
    scope: 'runtime:read',
    summary: 'The game’s script of this node, its state and what it registered',
    ofNode: true,
    ok: RuntimeView,
  },
  failures: {
    method: 'GET',
    path: '/console/v1/runtime/failures',
    access: 'operator',
    scope: 'runtime:read',
    summary:
      'The last 100 failures of handlers by place, newest first; the last 20 activations and ' +
      'rejections; the ten handlers that used most CPU in the last minute',
    ofNode: true,
    ok: ScriptFailures,
  },
  rpc: {
    method: 'POST',
    path: '/console/v1/runtime/rpc/{method}',
    access: 'admin',
    audit: 'runtime.rpc',
    summary: 'Calls an RPC of the script as nobody; what it answers is shown as UTF-8',
    params: () => z.strictObject({ method: key(128) }),
    body: () =>
      z.strictObject({
        payload: z.string(),
        room_id: count.optional().meta({ description: 'Calls it on the node of this room' }),
      }),
    ok: RpcAnswer,
    errors: ['not_found', 'runtime_unavailable'],
  },
})

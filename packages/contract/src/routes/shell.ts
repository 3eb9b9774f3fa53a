import { z } from 'zod'
import { count } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

const HealthStatus = once(() => z.enum(['healthy', 'degraded', 'unhealthy']))

/** What `/health` says, with 200 for healthy and degraded and 503 for unhealthy. */
export const Health = once(() =>
  z.strictObject({
    status: HealthStatus(),
    node_id: z.string(),
    version: z.string(),
  }),
)

/** What `/health/ready` says, with 200 or 503. `failing` stands with the check `tasks` only. */
export const Readiness = once(() =>
  z.strictObject({
    status: z.enum(['ready', 'not_ready']),
    checks: z.array(
      z.strictObject({
        name: z.string(),
        ok: z.boolean(),
        failing: z.array(z.string()).optional(),
      }),
    ),
  }),
)

const Transport = once(() =>
  z.strictObject({
    enabled: z.boolean(),
    available: z.boolean(),
    bind: z.string(),
    path: z.string().optional(),
    url: z.string().optional(),
    certificate_sha256: z.string().optional(),
  }),
)

const Task = once(() =>
  z.strictObject({
    name: z.string(),
    state: z.enum(['running', 'waiting', 'backing_off', 'stalled', 'stopped']),
    restarts: count,
    last_run_unix_ms: count.nullable(),
    next_start_unix_ms: count.nullable(),
  }),
)

/** The schedules of boards as this node knows them; `leader` executes them. */
const Scheduler = once(() =>
  z.strictObject({
    leader: z.boolean(),
    boards_scheduled: count,
    boards_failing: count,
    next_due_at_unix_ms: count.nullable(),
  }),
)

/** What this node removed of one kind of data that is past its time, and whether more is left. */
const Retention = once(() =>
  z.strictObject({ data: z.string(), pruned_total: count, behind: z.boolean() }),
)

const WriteBehind = once(() =>
  z.strictObject({
    name: z.string(),
    queued: count,
    written: count,
    dropped: count,
    failures: count,
    abandoned: count,
  }),
)

/** What `/status` says, always with 200. */
export const Status = once(() =>
  z.strictObject({
    status: HealthStatus(),
    node_id: z.string(),
    version: z.string(),
    build: z.strictObject({
      os: z.string(),
      arch: z.string(),
      profile: z.enum(['release', 'debug']),
    }),
    uptime_seconds: count,
    backend: z.enum(['in-memory', 'sqlite', 'postgres']),
    /** By name: `websocket`, `quic`, `webtransport`. */
    transports: z.record(z.string(), Transport()),
    runtime: z.strictObject({
      enabled: z.boolean(),
      configured_language: z.string().nullable(),
      selected_language: z.string().nullable(),
      selection_source: z.enum(['explicit', 'autodetected']).nullable(),
      adapter: z.string().nullable(),
      tier: z.string(),
      readiness: z.string(),
    }),
    database: z.strictObject({ state: z.enum(['up', 'suspect', 'down']) }),
    tasks: z.array(Task()),
    scheduler: Scheduler(),
    retention: z.array(Retention()),
    write_behind: z.array(WriteBehind()),
    metrics: z.record(z.string(), count),
  }),
)
export type Status = z.output<ReturnType<typeof Status>>

const publicGet = { method: 'GET', access: 'public', noStore: true } as const

export const shellApi = defineApi({
  health: {
    ...publicGet,
    path: '/health',
    summary: 'Whether the node serves; 503 when it does not',
    ok: Health,
    status: [200, 503],
  },
  live: {
    ...publicGet,
    path: '/health/live',
    summary: 'Whether the event loop answers: for restart policies',
    ok: () => z.strictObject({ status: z.literal('live') }),
  },
  ready: {
    ...publicGet,
    path: '/health/ready',
    summary: 'Whether the node should be sent requests; 503 when not',
    ok: Readiness,
    status: [200, 503],
  },
  status: {
    ...publicGet,
    path: '/status',
    crossOrigin: true,
    summary: 'The node, its transports, its runtime and its counters',
    ok: Status,
  },
})

import { z } from 'zod'
import { count, freeJson, limit, reference } from '../values/fields.ts'
import { pathInteger } from '../values/numbers.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

/** An open room. */
export const LiveRoom = once(() =>
  z.strictObject({
    id: count,
    name: z.string().nullable(),
    map: z.string(),
    mode: z.string(),
    players: count.meta({ description: 'Members, those whose connection is lost included' }),
    max_players: count.meta({ description: '0 sets no limit' }),
    open: z.boolean(),
    script_revision: z.string().nullable(),
    script_generation: count.nullable(),
    node_id: z
      .string()
      .optional()
      .meta({ description: 'The node of the room; with a cluster only' }),
  }),
)
export type LiveRoom = z.output<ReturnType<typeof LiveRoom>>

/** What the matchmaker of this node has done since its start; nothing of who waits. */
export const MatchmakerTotals = once(() =>
  z.strictObject({
    queued_tickets: count,
    evaluations_total: count,
    evaluation_duration_us_total: count,
    matches_formed_total: count,
    tickets_formed_total: count,
    tickets_cancelled_total: count,
    tickets_expired_total: count,
  }),
)
export type MatchmakerTotals = z.output<ReturnType<typeof MatchmakerTotals>>

/** A node of the deployment. */
export const DeploymentNode = once(() =>
  z.strictObject({
    node_id: z.string(),
    boot_id: z.string(),
    slot: count.meta({ description: '0 on a node without cluster' }),
    state: z.enum(['live', 'draining', 'gone']),
    version: z.string(),
    seen_at_unix_ms: count,
    rooms: count,
    connections: count,
  }),
)
export type DeploymentNode = z.output<ReturnType<typeof DeploymentNode>>

const get = { method: 'GET', access: 'operator', scope: 'matches:read' } as const

const change = { method: 'POST', access: 'admin', errors: ['not_found', 'conflict'] } as const

export const matchesApi = defineApi({
  nodes: {
    ...get,
    path: '/console/v1/nodes',
    summary: 'The nodes of the deployment by id; those that are gone for ten minutes',
    ok: () => z.strictObject({ items: z.array(DeploymentNode()) }),
    errors: [],
  },
  list: {
    ...get,
    path: '/console/v1/matches',
    summary: 'Open rooms of all nodes by id; the filter is a substring of name, map or mode',
    query: () =>
      z.strictObject({
        filter: reference().optional(),
        limit: limit({ default: 100, cap: 500 }),
      }),
    ok: () =>
      z.strictObject({
        realtime_attached: z.boolean(),
        total: count.meta({ description: 'Before filter and limit' }),
        matchmaker: MatchmakerTotals().nullable(),
        rooms: z.array(LiveRoom()),
        nodes_missing: z
          .array(z.string())
          .optional()
          .meta({ description: 'Nodes that did not answer; with a cluster only' }),
      }),
    errors: ['runtime_unavailable'],
  },
  get: {
    ...get,
    path: '/console/v1/matches/{id}',
    summary: 'One open room with its members',
    params: () => z.strictObject({ id: pathInteger }),
    ok: () =>
      z.strictObject({
        ...LiveRoom().shape,
        members: z.array(z.strictObject({ participant: count, user_id: z.string().nullable() })),
      }),
    errors: ['not_found', 'runtime_unavailable'],
  },
  state: {
    ...get,
    path: '/console/v1/matches/{id}/state',
    summary: 'The newest state that the script of a room with state has handed over',
    params: () => z.strictObject({ id: pathInteger }),
    ok: () =>
      z.strictObject({
        state: freeJson,
        seq: count.meta({ description: 'The number of the last state that was sent before it' }),
        checkpoint_at_unix_ms: count,
      }),
    errors: ['not_found', 'runtime_unavailable'],
  },
  traffic: {
    ...get,
    path: '/console/v1/matches/{id}/traffic',
    summary: 'Since when a room is open, its match, and how many messages have come into it',
    params: () => z.strictObject({ id: pathInteger }),
    ok: () =>
      z.strictObject({
        match_id: z.string().meta({ description: 'Its record, where records are kept' }),
        opened_at_unix_ms: count,
        messages_total: count.meta({ description: 'Messages and positions of its members' }),
      }),
    errors: ['not_found', 'runtime_unavailable'],
  },
  close: {
    ...change,
    path: '/console/v1/matches/{room_id}/close',
    audit: 'match.close',
    summary: 'Ends a room: its members hear that the match is closed, and stay connected',
    params: () => z.strictObject({ room_id: pathInteger }),
  },
  remove: {
    ...change,
    path: '/console/v1/matches/{room_id}/members/{participant}/remove',
    audit: 'match.remove',
    summary: 'Removes a member from its room; the last one ends it',
    params: () => z.strictObject({ room_id: pathInteger, participant: pathInteger }),
  },
})

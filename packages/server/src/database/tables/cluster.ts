import { oneOf } from '../statement.ts'
import { defineTable } from './table.ts'

/** Slots of nodes that play together; one that is free has no boot. */
export const clusterNodes = defineTable('cluster_nodes', {
  columns: {
    slot: 'integer',
    node_id: 'text',
    boot_id: 'text',
    version: 'text',
    state: oneOf('live', 'draining', 'free'),
    renewals: 'integer',
    rooms: 'integer',
    connections: 'integer',
    settings_json: 'json',
    freed: 'integer',
  },
  key: ['slot'],
})

/** Names of rooms over all nodes. */
export const clusterNames = defineTable('cluster_names', {
  columns: { name: 'text', room_id: 'integer', boot_id: 'text' },
  key: ['name'],
})

/** The connection of each session. */
export const clusterSessions = defineTable('cluster_sessions', {
  columns: {
    session_id: 'text',
    user_id: 'text',
    participant: 'integer',
    boot_id: 'text',
    room_id: 'integer?',
    replaced_boot_id: 'text?',
    replaced_participant: 'integer?',
    number: 'integer',
  },
  key: ['session_id'],
})

/** Where the numbers of connections come from. PostgreSQL needs its sequence only, and no row. */
export const clusterNumbers = defineTable('cluster_numbers', {
  columns: { number: 'integer', one: 'integer' },
  key: ['number'],
  sequence: 'number',
})

/** Seats that wait for a connection of their account. */
export const clusterSeats = defineTable('cluster_seats', {
  columns: {
    boot_id: 'text',
    participant: 'integer',
    session_id: 'text',
    user_id: 'text',
    room_id: 'integer',
    dropped_at_unix_ms: 'time',
  },
  key: ['boot_id', 'participant'],
})

/** What one node does for all, with the number of its taking. */
export const clusterRoles = defineTable('cluster_roles', {
  columns: { role: 'text', holder: 'text', generation: 'integer' },
  key: ['role'],
})

/** Operator roles. `admin` may do everything; `viewer` only reads. */
export const roles = ['admin', 'viewer'] as const
export type Role = (typeof roles)[number]

/** Every scope an API key can hold, in the order in which lists show them. All are read-only. */
export const scopes = [
  'telemetry:read',
  'config:read',
  'audit:read',
  'errors:read',
  'accounts:read',
  'groups:read',
  'runtime:read',
  'matches:read',
  'storage:read',
  'database:read',
  'chat:read',
  'notifications:read',
  'leaderboards:read',
  'tournaments:read',
  'purchases:read',
  'subscriptions:read',
  'logs:read',
] as const
export type Scope = (typeof scopes)[number]

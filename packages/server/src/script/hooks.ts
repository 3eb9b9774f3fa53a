/** What a call runs. The order is part of the protocol between the threads. */
export const hookNames = [
  'on_start',
  'on_join',
  'on_leave',
  'on_message',
  'on_rpc',
  'timer',
  'on_tick',
  'on_leaderboard_reset',
  'on_tournament_completed',
] as const

export const hookCode = {
  start: 0,
  join: 1,
  leave: 2,
  message: 3,
  rpc: 4,
  timer: 5,
  tick: 6,
  leaderboard_reset: 7,
  tournament_completed: 8,
} as const
export type HookCode = (typeof hookCode)[keyof typeof hookCode]
export const hookCodes: readonly HookCode[] = [0, 1, 2, 3, 4, 5, 6, 7, 8]

/** Hooks that are told what has happened in the deployment, on one node and at least once. */
export const eventHooks = {
  on_leaderboard_reset: hookCode.leaderboard_reset,
  on_tournament_completed: hookCode.tournament_completed,
} as const
export type EventHook = keyof typeof eventHooks

/** Where a call comes from, as the script reads it in `ctx.origin`. */
export const origins = ['player', 'console', 'server'] as const
export type Origin = (typeof origins)[number]

/** What the top level of a script registered. */
export type Handlers = {
  readonly rpcs: readonly string[]
  readonly message_kinds: readonly number[]
  /** Hook names other than on_message and on_rpc. */
  readonly hooks: readonly string[]
}

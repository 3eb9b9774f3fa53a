/** How ready the node's script is. */
export const readinessStates = [
  'no_script',
  'validating',
  'ready',
  'activating',
  'degraded',
  'unavailable',
] as const
export type ReadinessState = (typeof readinessStates)[number]

export type ReadinessEvent =
  | 'nothing_to_run'
  | 'load_started'
  | 'candidate_accepted'
  | 'candidate_missing'
  | 'candidate_rejected'
  | 'swapped'
  | 'swap_failed_old_alive'
  | 'swap_failed'
  | 'worker_failed'
  | 'restarted'
  | 'restart_failed'
  | 'circuit_opened'
  | 'probe_succeeded'

/** A state and when it was entered. `boot` is before the first state and is never shown. */
export type Readiness = {
  readonly state: ReadinessState | 'boot'
  readonly since_unix_millis: number
}

type Row = {
  readonly from: readonly (ReadinessState | 'boot')[]
  readonly event: ReadinessEvent
  readonly to: ReadinessState
}

/** Every transition there is. An event that has no row for the present state is a bug. */
export const readinessTable: readonly Row[] = [
  { from: ['boot'], event: 'nothing_to_run', to: 'no_script' },
  { from: ['boot', 'no_script', 'unavailable'], event: 'load_started', to: 'validating' },
  { from: ['validating'], event: 'candidate_accepted', to: 'activating' },
  { from: ['validating'], event: 'candidate_missing', to: 'no_script' },
  { from: ['validating'], event: 'candidate_rejected', to: 'unavailable' },
  { from: ['ready'], event: 'load_started', to: 'ready' },
  { from: ['ready'], event: 'candidate_rejected', to: 'ready' },
  { from: ['ready', 'degraded'], event: 'candidate_accepted', to: 'activating' },
  { from: ['degraded'], event: 'load_started', to: 'degraded' },
  { from: ['activating'], event: 'swapped', to: 'ready' },
  { from: ['activating'], event: 'swap_failed_old_alive', to: 'ready' },
  { from: ['activating'], event: 'swap_failed', to: 'degraded' },
  { from: ['ready'], event: 'worker_failed', to: 'degraded' },
  { from: ['degraded'], event: 'restarted', to: 'ready' },
  { from: ['degraded'], event: 'restart_failed', to: 'degraded' },
  { from: ['degraded'], event: 'circuit_opened', to: 'unavailable' },
  { from: ['unavailable'], event: 'probe_succeeded', to: 'ready' },
]

/** The readiness after `event`. A state that does not change keeps its time of entry. */
export function advance(now: Readiness, event: ReadinessEvent, nowUnixMs: number): Readiness {
  const row = readinessTable.find((row) => row.event === event && row.from.includes(now.state))
  if (!row) throw new Error(`script readiness: ${event} cannot happen in state ${now.state}`)
  return row.to === now.state ? now : { state: row.to, since_unix_millis: nowUnixMs }
}

/** With `require_script` only a ready script opens the gate; without, it is always open. */
export function gateIsOpen(state: ReadinessState, requireScript: boolean): boolean {
  return !requireScript || state === 'ready'
}

/** The value of the metric `script_readiness_state`. */
export function readinessNumber(state: ReadinessState): number {
  return readinessStates.indexOf(state)
}

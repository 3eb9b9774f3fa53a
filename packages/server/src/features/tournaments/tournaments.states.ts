import type { TournamentState } from '@guildhall/contract'

/** Who moves a tournament on: operators over the console, or the server's own settlement. */
export type Mover = 'operator' | 'settlement'

/** Every edge there is, and whose it is. The last two states are the ends. */
const edges: Record<TournamentState, Partial<Record<TournamentState, Mover>>> = {
  draft: { registration_open: 'operator', cancelled: 'operator' },
  registration_open: { running: 'operator', cancelled: 'operator' },
  running: { finalizing: 'settlement', cancelled: 'operator' },
  finalizing: { completed: 'settlement' },
  completed: {},
  cancelled: {},
}

/** Whether `mover` may take a tournament from one state to another. The clock has no say in it. */
export function mayMove(mover: Mover, from: TournamentState, to: TournamentState): boolean {
  return edges[from][to] === mover
}

/** Whether a tournament takes entrants: in its state, and from its opening until its closing. */
export function takesEntrants(
  tournament: {
    state: TournamentState
    registration_opens_at_unix_ms: number
    registration_closes_at_unix_ms: number
  },
  nowUnixMs: number,
): boolean {
  return (
    tournament.state === 'registration_open' &&
    tournament.registration_opens_at_unix_ms <= nowUnixMs &&
    nowUnixMs < tournament.registration_closes_at_unix_ms
  )
}

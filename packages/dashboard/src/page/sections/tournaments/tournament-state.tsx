import type { Tournament } from '@guildhall/contract'
import { serverNow } from '../../data/node-status.ts'
import { Badge, type Tone } from '../../kit/text/badge.tsx'

const tones: Readonly<Record<Tournament['state'], Tone>> = {
  draft: 'none',
  registration_open: 'accent',
  running: 'ok',
  finalizing: 'warn',
  completed: 'none',
  cancelled: 'bad',
}

type State = Pick<Tournament, 'state' | 'ends_at_unix_ms'>

export function TournamentState(tournament: State) {
  const { state } = tournament
  return (
    <span className="row tight">
      <Badge tone={tones[state]}>{state.replaceAll('_', ' ')}</Badge>
      {isOverdue(tournament) && <Badge tone="bad">overdue</Badge>}
    </span>
  )
}

/** Past its end without having been started: nothing moves it any more but an operator. */
export function isOverdue({ state, ends_at_unix_ms }: State): boolean {
  const waits = state === 'draft' || state === 'registration_open'
  return waits && ends_at_unix_ms <= serverNow()
}

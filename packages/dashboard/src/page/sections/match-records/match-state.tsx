import type { MatchRecord } from '@guildhall/contract'
import { Badge } from '../../kit/text/badge.tsx'

type State = Pick<MatchRecord, 'open' | 'termination_reason'>

export function MatchState({ open, termination_reason }: State) {
  if (open) return <Badge tone="ok">open</Badge>
  return <Badge>{(termination_reason ?? 'closed').replaceAll('_', ' ')}</Badge>
}

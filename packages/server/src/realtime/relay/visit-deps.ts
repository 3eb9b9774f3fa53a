import type { Clock } from '../../kernel/clock.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { Participant } from '../play/participants/participant.ts'
import type { Visits } from '../play/visits.ts'
import type { Place } from '../play.port.ts'
import type { EdgeLink } from './links.ts'

/** What all stays of a node's participants with other owners share. */
export type VisitDeps = {
  clock: Clock
  metrics: GatewayMetrics
  visits: Visits
  commandTimeoutMs: number
  /** How long a seat is kept; 0 keeps none. */
  graceMs: number
  /** The link to an owner, opened when there is none. */
  linkTo(boot: string): EdgeLink
  isThere(boot: string): boolean
  nextCall(): number
  /** A participant has dropped: its account may be back before the directory says so. */
  dropped(participant: Participant, boot: string): void
  /** A participant is out of its place, or of any where none is known, and the link is lost. */
  leftUnheard(participant: Participant, boot: string, place: Place | undefined): void
  /** Nothing is left of a visit. */
  over(visit: { readonly number: number; readonly link: EdgeLink }): void
}

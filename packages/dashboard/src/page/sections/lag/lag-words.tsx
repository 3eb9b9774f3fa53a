import type { LagCapture, LagOutcome } from '@guildhall/contract'
import type { Verdict } from '../../../model/lag.ts'
import { Badge, type Tone } from '../../kit/text/badge.tsx'

const stateTones: Readonly<Record<LagCapture['state'], Tone>> = {
  recording: 'accent',
  minting: 'accent',
  flushing: 'accent',
  sealed: 'ok',
  expired: 'none',
}

const stateWords: Readonly<Record<LagCapture['state'], string>> = {
  recording: 'recording',
  minting: 'ending',
  flushing: 'uploading',
  sealed: 'sealed',
  expired: 'expired',
}

export function CaptureState({ state }: Pick<LagCapture, 'state'>) {
  return <Badge tone={stateTones[state]}>{stateWords[state]}</Badge>
}

/** How many recorders are in which status, without those of none. */
export function recorderWords({ recorders }: Pick<LagCapture, 'recorders'>): string {
  const said = Object.entries(recorders).filter(([, count]) => count > 0)
  return said.map(([status, count]) => `${count} ${status}`).join(', ') || 'none'
}

const outcomeTones: Readonly<Record<LagOutcome, Tone>> = {
  no_analysis: 'none',
  pending: 'accent',
  no_data: 'warn',
  partial: 'warn',
  complete: 'ok',
  failed: 'bad',
}

export function Outcome({ status }: { status: LagOutcome }) {
  return <Badge tone={outcomeTones[status]}>{status.replaceAll('_', ' ')}</Badge>
}

type Words = { tone: Tone; title: string; text: string }

const verdicts: Readonly<Record<Verdict, Words>> = {
  even: {
    tone: 'ok',
    title: 'arrivals are even',
    text: 'It is not the arrival: look at the frame time of the game on the device.',
  },
  node: {
    tone: 'bad',
    title: 'the node',
    text:
      'It sent unevenly, and the arrivals follow it: look for late ticks, slow handlers, and ' +
      'players whose messages it passes on as they come.',
  },
  way: {
    tone: 'warn',
    title: 'the way or the device',
    text: 'The node sent evenly; what made it uneven is behind it.',
  },
  both: {
    tone: 'warn',
    title: 'the way, and the node a little',
    text: 'The node sent unevenly, and the arrivals stalled far longer than it did.',
  },
  node_unknown: {
    tone: 'none',
    title: 'uneven, the node is unknown',
    text: 'What the node sent was not counted, so the two cannot be compared.',
  },
  too_few: {
    tone: 'none',
    title: 'too few arrivals',
    text: 'Fewer than 30 spacings say nothing for sure: record longer, or another kind.',
  },
  no_data: {
    tone: 'none',
    title: 'nothing to compare',
    text: 'No arrival of the chosen kinds was recorded.',
  },
}

export function VerdictWords({ verdict }: { verdict: Verdict }) {
  const { tone, title, text } = verdicts[verdict]
  return (
    <p>
      <Badge tone={tone}>{title}</Badge> <span>{text}</span>
    </p>
  )
}

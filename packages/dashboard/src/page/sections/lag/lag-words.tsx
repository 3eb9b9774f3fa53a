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
    text: 'What the node saw of it was not counted, so the two cannot be compared.',
  },
  sent_evenly: {
    tone: 'ok',
    title: 'even at the node',
    text: 'What the player sent came evenly: it is not the way to the node.',
  },
  sent_unevenly: {
    tone: 'none',
    title: 'sent as it came',
    text:
      'The device sent unevenly, as it does when a message follows what the player does. Of lag ' +
      'that says something only when the game sends it by a beat.',
  },
  way_to_node: {
    tone: 'warn',
    title: 'the way to the node',
    text: 'The device sent more evenly than the messages came to the node.',
  },
  too_few: {
    tone: 'none',
    title: 'too few messages',
    text: 'Fewer than 30 spacings say nothing for sure: record longer, or another kind.',
  },
  no_data: {
    tone: 'none',
    title: 'nothing to compare',
    text: 'None of these messages was recorded.',
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

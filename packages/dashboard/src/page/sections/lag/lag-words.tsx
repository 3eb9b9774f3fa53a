import type { LagCapture, LagOutcome } from '@guildhall/contract'
import type { Verdict } from '../../../model/lag.ts'
import { verdictWords } from '../../../model/lag-verdicts.ts'
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

const verdictTones: Readonly<Record<Verdict, Tone>> = {
  even: 'ok',
  node: 'bad',
  way: 'warn',
  both: 'warn',
  node_unknown: 'none',
  sent_evenly: 'ok',
  sent_unevenly: 'none',
  way_to_node: 'warn',
  too_few: 'none',
  no_data: 'none',
}

export function VerdictWords({ verdict }: { verdict: Verdict }) {
  const { title, text } = verdictWords[verdict]
  return (
    <p>
      <Badge tone={verdictTones[verdict]}>{title}</Badge> <span>{text}</span>
    </p>
  )
}

import type { ScriptActivation } from '@guildhall/contract'
import { expect, it } from 'vitest'
import { rejectedChange } from './rejected-change.ts'

type Reason = ScriptActivation['reason']

function activation(outcome: ScriptActivation['outcome'], reason: Reason, generation: number) {
  const rest = { at_unix_ms: 1, revision_id: null, files: [], duration_ms: 1, problem: null }
  return { ...rest, outcome, reason, generation }
}

it('a change stays rejected until another one is taken', () => {
  const boot = activation('active', 'boot', 1)
  const rejected = activation('rejected', 'reload', 2)
  expect(rejectedChange([])).toBeUndefined()
  expect(rejectedChange([boot])).toBeUndefined()
  expect(rejectedChange([rejected, boot])).toEqual(rejected)
  for (const reason of ['restart', 'rollback'] as const) {
    const again = activation('active', reason, 3)
    expect(rejectedChange([again, rejected, boot])).toEqual({ ...rejected, generation: 3 })
    expect(rejectedChange([again, boot])).toBeUndefined()
  }
  for (const reason of ['reload', 'signal'] as const) {
    expect(rejectedChange([activation('active', reason, 3), rejected, boot])).toBeUndefined()
  }
})

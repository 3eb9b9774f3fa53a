import { expect, it } from 'vitest'
import { nobody } from '../../kernel/play/calls.ts'
import type { NewCall } from '../calls.ts'
import { hookCode } from '../wire/hooks.ts'
import { Gates } from './gates.ts'

const call = (hook: number, detail = 0): NewCall => {
  return { hook, context: nobody, origin: 'server', detail, settle() {} }
}
const [before, ofUnload] = [call(hookCode.timer, 1), call(hookCode.timer, 2)]

it('[S-REL-8] timers go on while something open may wait for them, and calls do not', async () => {
  const gates = new Gates()
  /** Which of these wait. */
  const held = (open: number) =>
    [call(hookCode.on_rpc), before, ofUnload].map((each) => gates.holds(each, 'paused', open))
  expect(gates.holds(before, 'serving', 0)).toBe(false)
  gates.drain([])
  expect(held(1)).toEqual([true, false, false])
  expect(held(0)).toEqual([true, true, true])
  await gates.unload(async () => {
    gates.timerSet(2)
    expect(held(1)).toEqual([true, true, false])
  })
  expect(held(1)).toEqual([true, true, true])
  gates.drain([])
  gates.close()
  expect(held(1)).toEqual([true, true, true])
})

it('[S-REL-8] what repeats runs only while something is open that was so before', () => {
  const gates = new Gates()
  /** Whether it runs while these are open. */
  const repeats = () => [[2, 3], [3], []].map((open) => gates.mayRepeat('paused', open))
  gates.drain([1, 2])
  expect([repeats(), gates.mayRepeat('serving', [3])]).toEqual([[true, false, false], true])
  gates.close()
  expect(repeats()).toEqual([true, true, true])
  // As many as `runtime.inbox_calls` may allow.
  gates.drain(Array(1_000_000).keys())
  expect(gates.mayRepeat('paused', [999_999])).toBe(true)
})

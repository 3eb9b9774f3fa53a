import { expect, it } from 'vitest'
import { hookCode } from '../wire/hooks.ts'
import type { CallBatch } from '../wire/protocol.ts'
import { CallBatches, newOpenCall } from './call-batches.ts'
import { newCall } from './serving.fixture.ts'

const { on_match_join, on_rpc } = hookCode

it('keeps the first answer of bytes to each open call, as long as there is room', () => {
  const sent: CallBatch[] = []
  const batches = new CallBatches({
    clock: { monotonicMs: () => 0 },
    nodeTime: () => undefined,
    post: (batch) => void sent.push(batch),
    posted() {},
  })
  const calls = Array.from({ length: 300 }, () => newOpenCall(newCall({ hook: on_rpc })))
  const answer = (value: unknown, open = calls) => {
    for (const [id, call] of open.entries()) batches.addResult({ id, ok: true, value }, call)
    batches.pump()
    batches.answered(1)
    return sent.at(-1)?.results.filter((result) => result.ok && result.kept === true).length
  }
  // No other call has bytes for its reply.
  const match = Array.from({ length: 300 }, () => newOpenCall(newCall({ hook: on_match_join })))
  expect(answer(new Uint8Array(65_536), match)).toBe(0)
  expect(answer({ of: 'no bytes' })).toBe(0)
  expect(answer(new Uint8Array(65_537))).toBe(0)
  expect(answer(new Uint8Array(65_536))).toBe(256)
  expect(calls.map(({ answered }) => answered?.bytes.length ?? 0)).toEqual([
    ...Array.from({ length: 256 }, () => 65_536),
    ...Array.from({ length: 44 }, () => 0),
  ])
  expect(answer(new Uint8Array(1), calls.slice(0, 256))).toBe(0)
  for (const call of calls.slice(0, 100)) batches.ended(call)
  expect(answer(new Uint8Array(65_536))).toBe(100)
})

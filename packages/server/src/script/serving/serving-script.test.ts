import { expect, it } from 'vitest'
import { hookCode } from '../wire/hooks.ts'
import { op } from '../wire/output-records.ts'
import { createScripts, newCall } from './serving.fixture.ts'

/** A script that serves before a worker whose answers the test makes. */
function create() {
  const { open, inbox, clock, failed } = createScripts()
  const { script, batches, answered, done } = open()
  const call = (bytes = 0) =>
    script.call(newCall({ hook: hookCode.on_message, detail: 100, body: new Uint8Array(bytes) }))
  const endOfTurn = () => clock.advance(0)
  return { script, inbox, batches, answered, done, call, endOfTurn, clock, failed }
}

it('[S-WP-3] sends at most 256 calls in a batch, and a third batch only when one is answered', async () => {
  const { batches, answered, call, endOfTurn, inbox, script } = create()
  for (let n = 0; n < 1000; n += 1) call()
  await endOfTurn()
  expect(batches.map(({ calls }) => calls)).toEqual([256, 256])
  expect(inbox.calls()).toBe(1000)
  expect(script.isQuiet).toBe(false)
  expect(answered(1)).toBe(true)
  expect(batches.map(({ calls }) => calls)).toEqual([256, 256, 256])
  expect(answered(2)).toBe(true)
  expect(batches.map(({ calls }) => calls)).toEqual([256, 256, 256, 232])
  expect(answered(1)).toBe(true)
  expect(script.isQuiet).toBe(true)
})

it('[S-WP-3] sends at most 512 KiB of bodies in a batch, but one call always', async () => {
  const { batches, answered, call, endOfTurn } = create()
  for (const bytes of [600_000, 300_000, 224_288, 1, 65_536]) call(bytes)
  await endOfTurn()
  expect(batches.map(({ calls }) => calls)).toEqual([1])
  answered(1)
  expect(batches.map(({ calls }) => calls)).toEqual([1, 2])
  answered(1)
  expect(batches.map(({ calls }) => calls)).toEqual([1, 2, 2])
})

it('[S-WP-4] refuses an answer to batches that were not sent', async () => {
  const { answered, call, endOfTurn } = create()
  call()
  await endOfTurn()
  expect(answered(2)).toBe(false)
})

it('[S-WP-4] replies with nothing where the worker names an answer that it did not get', async () => {
  const { open, clock } = createScripts()
  const { script, receive } = open()
  const outcomes: unknown[] = []
  const settle = (outcome: unknown) => outcomes.push(outcome)
  script.call(newCall({ hook: hookCode.on_rpc, text: 'go', settle }))
  await clock.advance(0)
  const [ok, named] = [0, -7]
  expect(receive([op.done, 1, ok, 0, named, 0, -1])).toBe(true)
  expect(outcomes).toEqual([{ status: 'ok', reply: new Uint8Array(0), cpuUs: 0 }])
  expect(receive([op.done, 1, ok, 0, -0.5, 0, -1])).toBe(false)
})

it('[S-LIM-4] gives a call up that its worker has begun and does not end', async () => {
  const { script, batches, answered, done, clock, inbox, failed } = create()
  const outcomes: string[] = []
  const rpc = () =>
    script.call(
      newCall({
        hook: hookCode.on_rpc,
        text: 'go',
        settle: ({ status }) => outcomes.push(status),
      }),
    )
  rpc()
  await clock.advance(0)
  answered(1)
  await clock.advance(10_999)
  script.lookForOldCalls()
  expect(outcomes).toEqual([])
  await clock.advance(1)
  script.lookForOldCalls()
  expect([outcomes, inbox.calls()]).toEqual([['timed_out'], 0])
  expect(failed).toMatchObject([{ hook: 'on_rpc', name: 'go', kind: 'too_long' }])
  // What comes of it later is dropped.
  expect(done(1)).toBe(true)
  expect(outcomes).toEqual(['timed_out'])
  rpc()
  await clock.advance(0)
  expect(batches).toHaveLength(2)
})

it('[S-LIM-4] [S-INV-2] leaves a call its own time that waits for others of its participant', async () => {
  const { script, answered, done, clock } = create()
  const outcomes: string[] = []
  for (const id of [1, 2]) {
    script.call(
      newCall({
        hook: hookCode.on_message,
        detail: 100,
        participant: 7,
        settle: ({ status }) => outcomes.push(`${id} ${status}`),
      }),
    )
  }
  await clock.advance(0)
  answered(1)
  await clock.advance(9000)
  done(1)
  await clock.advance(9000)
  script.lookForOldCalls()
  expect(outcomes).toEqual(['1 ok'])
  await clock.advance(3000)
  script.lookForOldCalls()
  expect(outcomes).toEqual(['1 ok', '2 timed_out'])
})

it.each([
  [
    'the call whose slice ran on, and no other',
    { running: 1, begun: 2 },
    [{ status: 'timed_out', isSuspect: false }, { status: 'lost' }],
  ],
  [
    'all that had begun, one of which nobody knows',
    { running: 0, begun: 2 },
    [
      { status: 'timed_out', isSuspect: true },
      { status: 'timed_out', isSuspect: true },
    ],
  ],
])('[S-LIM-2] ends as too long, with its worker, %s', async (_, overdue, ends) => {
  const { script, clock } = create()
  const outcomes: unknown[] = []
  for (let n = 0; n < 2; n += 1) {
    script.call(newCall({ hook: hookCode.on_rpc, settle: (outcome) => outcomes.push(outcome) }))
  }
  await clock.advance(0)
  script.end(overdue)
  expect(outcomes).toMatchObject(ends)
})

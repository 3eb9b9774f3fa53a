import { expect, it } from 'vitest'
import { createFakeClock } from '../kernel/clock.fake.ts'
import { createRecordedLog } from '../kernel/log/log.fake.ts'
import { nobody } from '../kernel/play/calls.ts'
import type { ScriptConfig } from './config.ts'
import { Dispatcher } from './dispatcher.ts'
import { createScriptMetrics } from './metrics.ts'
import { hookCode } from './wire/hooks.ts'
import type { CallBatch, ToWorker } from './wire/protocol.ts'

const config = {
  inbox_calls: 8192,
  inbox_bytes: 16_777_216,
  call_timeout_ms: 10_000,
  deadline_ms: 100,
  tier: 'trusted',
} as ScriptConfig

/** A dispatcher before a worker whose answers the test makes. */
function create() {
  const clock = createFakeClock()
  const dispatcher = new Dispatcher({
    config,
    clock,
    log: createRecordedLog(),
    metrics: createScriptMetrics(),
    nodeTime: () => undefined,
    view: { handlerFailed() {}, callEnded() {} },
  })
  const batches: CallBatch[] = []
  dispatcher.attach(
    {
      post: (message: ToWorker) => void (message.type === 'batch' && batches.push(message)),
      ping() {},
    },
    'sha256:test',
  )
  const answered = (count: number) =>
    dispatcher.receive({
      type: 'batch',
      answered: count,
      words: 0,
      buffer: new ArrayBuffer(0),
      texts: [],
      calls: [],
    })
  const call = (bytes = 0) =>
    dispatcher.call({
      hook: hookCode.on_message,
      context: nobody,
      origin: 'player',
      detail: 100,
      body: new Uint8Array(bytes),
      settle() {},
    })
  return { dispatcher, batches, answered, call, endOfTurn: () => clock.advance(0) }
}

it('[S-WP-3] sends at most 256 calls in a batch, and a third batch only when one is answered', async () => {
  const { batches, answered, call, endOfTurn, dispatcher } = create()
  for (let n = 0; n < 1000; n += 1) call()
  await endOfTurn()
  expect(batches.map(({ calls }) => calls)).toEqual([256, 256])
  expect(dispatcher.inbox.calls()).toBe(1000)
  expect(dispatcher.isQuiet).toBe(false)
  expect(answered(1)).toBe(true)
  expect(batches.map(({ calls }) => calls)).toEqual([256, 256, 256])
  expect(answered(2)).toBe(true)
  expect(batches.map(({ calls }) => calls)).toEqual([256, 256, 256, 232])
  expect(answered(1)).toBe(true)
  expect(dispatcher.isQuiet).toBe(true)
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

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createSystemClock } from '../../../kernel/clock.ts'
import { createRecordedLog } from '../../../kernel/log/log.fake.ts'
import { ScriptWorker } from '../../process/script-worker.ts'
import { type CallRecord, encodeCalls } from '../../wire/call-records.ts'
import { hookCode } from '../../wire/hooks.ts'
import { visitOutput } from '../../wire/output-records.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

test('a worker runs whatever language its engine speaks', async () => {
  const { worker, outcomes } = startWorker('reply greet hello\nsend shout 100 hey')
  const loaded = await worker.load({
    type: 'load',
    entry: 'main.lines',
    generation: 1,
    files: undefined,
  })
  expect(loaded.handlers.rpcs).toEqual(['greet', 'shout'])
  expect(loaded.files.map(({ path }) => path)).toEqual(['main.lines'])
  call(worker, ['greet', 'shout', 'unheard'])
  await expect
    .poll(() => outcomes, { timeout: 10_000 })
    .toEqual(['done 1 ok hello', 'broadcast 100 hey', 'done 2 ok ', 'done 3 ok '])
})

test('[S-LIM-1] a handler of any language is interrupted, and the worker lives on', async () => {
  const { worker, outcomes } = startWorker('spin round\nreply greet hello')
  await worker.load({ type: 'load', entry: 'main.lines', generation: 1, files: undefined })
  call(worker, ['round', 'greet'])
  await expect
    .poll(() => outcomes, { timeout: 10_000 })
    .toEqual(['done 1 timed_out ', 'done 2 ok hello'])
})

test('a problem of any language names its file and line', async () => {
  const { worker } = startWorker('reply greet hello\nshrug')
  const loading = worker.load({
    type: 'load',
    entry: 'main.lines',
    generation: 1,
    files: undefined,
  })
  await expect(loading).rejects.toThrow('main.lines:2: there is no statement shrug')
})

function startWorker(script: string) {
  const scriptsDir = mkdtempSync(join(tmpdir(), 'guildhall-lines-'))
  writeFileSync(join(scriptsDir, 'main.lines'), script)
  const outcomes: string[] = []
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
  const ignore = () => {}
  const worker = new ScriptWorker({
    url: new URL('./lines-engine.fixture.ts', import.meta.url),
    settings: {
      scriptsDir,
      nodeId: 'node-1',
      deadlineMs: 200,
      tickDeadlineMs: 200,
      callTimeoutMs: 5000,
      memoryMb: 64,
      tier: 'trusted',
      lines: { durable: false, payloadBytesMax: 1024, idSalt: '0000' },
    },
    environment: {},
    loadTimeoutMs: 20_000,
    clock: createSystemClock(),
    log: createRecordedLog(),
    output: (batch) =>
      visitOutput(batch, {
        done: (id, { status, reply }) => outcomes.push(`done ${id} ${status} ${text(reply)}`),
        broadcast: ({ kind, body }) => outcomes.push(`broadcast ${kind} ${text(body)}`),
        send: ignore,
        after: ignore,
        every: ignore,
        cancel: ignore,
        command: ignore,
        failed: ignore,
      }),
    ended: ignore,
  })
  ends.push(
    () => worker.stop(),
    () => rmSync(scriptsDir, { recursive: true }),
  )
  return { worker, outcomes }
}

function call(worker: ScriptWorker, methods: readonly string[]): void {
  const calls = methods.map((method, index) => rpc(index + 1, method))
  const { buffer, texts } = encodeCalls(calls)
  worker.post({ type: 'batch', seq: 1, calls: calls.length, buffer, texts, results: [] })
}

function rpc(id: number, method: string): CallRecord {
  return {
    id,
    hook: hookCode.on_rpc,
    participant: 1,
    room_id: null,
    detail: 0,
    unreliable: false,
    origin: 0,
    body: new Uint8Array(0),
    text: method,
    about: { user_id: null, username: null, match_id: null },
    group: undefined,
  }
}

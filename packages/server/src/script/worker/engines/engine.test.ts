import { afterEach, describe, expect, it } from 'vitest'
import { createSystemClock } from '../../../kernel/clock.ts'
import { createRecordedLog } from '../../../kernel/log/log.fake.ts'
import { ScriptWorker } from '../../process/script-worker.ts'
import { type CallRecord, encodeCalls } from '../../wire/call-records.ts'
import { hookCode } from '../../wire/hooks.ts'
import { visitOutput } from '../../wire/output-records.ts'
import type { HostResult } from '../../wire/protocol.ts'

/** The language of three statements, as it is mounted. */
const lines = { entry: new URL('./lines-engine.fixture.ts', import.meta.url), execArgv: () => [] }

const entry = 'main.lines'
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

describe('a worker runs whatever language its engine speaks', () => {
  it('and knows the files that it was given, and no other', async () => {
    const { worker, load, outcomes } = startWorker()
    const loaded = await load('greet reply hello\nshout call broadcast 100 hey')
    expect(loaded.handlers.rpcs).toEqual(['greet', 'shout'])
    expect(worker.asked.size).toBe(0)
    call(worker, ['greet', 'shout', 'unheard'])
    await expect
      .poll(() => outcomes)
      .toEqual(['done 1 ok hello', 'broadcast 100 hey', 'done 2 ok ', 'done 3 ok '])
  })

  it('and names file and line of a problem', async () => {
    const { load } = startWorker()
    const loading = load('greet reply hello\ngreet shrug')
    await expect(loading).rejects.toThrow('main.lines:2: there is no statement shrug')
  })

  it('[S-LIM-1] and lives on when a handler is interrupted', async () => {
    const { worker, load, outcomes } = startWorker()
    await load('round spin\ngreet reply hello')
    call(worker, ['round', 'greet'])
    await expect.poll(() => outcomes).toEqual(['done 1 timed_out ', 'done 2 ok hello'])
  })
})

describe('what an engine goes on with after a wait', () => {
  it('[S-INV-1] [S-INV-3] [S-INV-4] is a slice of its invocation, with commands of its own', async () => {
    const { worker, load, outcomes, asked, answer } = startWorker()
    await load(
      [
        'ask call broadcast 100 first',
        'ask call session_list',
        'ask call broadcast 101 second',
        'fails call session_list',
        'fails call broadcast 102 dropped',
        'fails call unknown',
      ].join('\n'),
    )
    call(worker, ['ask', 'fails'])
    await expect.poll(() => asked).toHaveLength(2)
    expect(outcomes).toEqual(['broadcast 100 first'])
    answer([])
    await expect
      .poll(() => outcomes.slice(1).sort())
      .toEqual(['broadcast 101 second', 'done 1 ok []', 'done 2 error '])
  })

  it('[S-LIM-1] has what is left of the time, and is interrupted past it', async () => {
    const { worker, load, outcomes, asked, answer } = startWorker()
    await load('ask call session_list\nask spin\ngreet reply hello')
    call(worker, ['ask', 'greet'])
    await expect.poll(() => asked).toHaveLength(1)
    answer([])
    await expect.poll(() => outcomes).toEqual(['done 2 ok hello', 'done 1 timed_out '])
  })

  it('[S-API-1] is a refusal where the node refused', async () => {
    const { worker, load, outcomes, asked, refuse } = startWorker()
    await load('ask call session_list')
    call(worker, ['ask'])
    await expect.poll(() => asked).toHaveLength(1)
    refuse()
    await expect.poll(() => outcomes).toEqual(['done 1 error '])
  })

  it('[S-LIM-4] is forgotten when the call has been given up', async () => {
    const { worker, load, outcomes, asked, answer, log } = startWorker({ callTimeoutMs: 50 })
    await load('ask call session_list\nask call broadcast 100 late')
    call(worker, ['ask'])
    await expect.poll(() => asked).toHaveLength(1)
    await expect
      .poll(() => {
        worker.ping()
        return outcomes
      })
      .toEqual(['done 1 timed_out '])
    const said = () => log.lines.map(({ message }) => message)
    await expect.poll(said).toContain('a handler is forgotten')
    answer([])
    await worker.stop()
    expect(outcomes).toEqual(['done 1 timed_out '])
  })
})

function startWorker({ callTimeoutMs = 5000 } = {}) {
  const outcomes: string[] = []
  const asked: number[] = []
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
  const ignore = () => {}
  const log = createRecordedLog()
  const worker = new ScriptWorker({
    program: lines,
    settings: {
      scriptsDir: '/nowhere',
      sharedDirs: [],
      packagesRoot: '',
      nodeId: 'node-1',
      deadlineMs: 200,
      tickDeadlineMs: 200,
      callTimeoutMs,
      memoryMb: 64,
      stateBytesMax: 1_048_576,
      tier: 'trusted',
      packageDir: '',
      imageFile: '',
      inspects: false,
      lines: { durable: false, payloadBytesMax: 1024, idSalt: '0000' },
    },
    environment: {},
    loadTimeoutMs: 20_000,
    clock: createSystemClock(),
    log,
    output(batch) {
      asked.push(...batch.calls.map(({ id }) => id))
      return visitOutput(batch, {
        done: (id, { status, reply }) => outcomes.push(`done ${id} ${status} ${text(reply)}`),
        broadcast: ({ kind, body }) => outcomes.push(`broadcast ${kind} ${text(body)}`),
        send: ignore,
        after: ignore,
        every: ignore,
        cancel: ignore,
        command: ignore,
        failed: ignore,
        state: ignore,
        saved: ignore,
        fault: ignore,
        skipped: ignore,
      })
    },
    ended: ignore,
  })
  ends.push(() => worker.stop())
  const give = (results: HostResult[]) => {
    const { buffer, texts } = encodeCalls([])
    worker.post({ type: 'batch', calls: 0, buffer, texts, results })
  }
  return {
    worker,
    outcomes,
    asked,
    log,
    load(script: string) {
      const files = [{ path: entry, bytes: new TextEncoder().encode(script) }]
      return worker.load({ type: 'load', entry, generation: 1, files })
    },
    answer: (value: unknown) => give(asked.map((id) => ({ id, ok: true, value }))),
    refuse() {
      give(asked.map((id) => ({ id, ok: false, code: 'conflict', message: 'no' })))
    },
  }
}

function call(worker: ScriptWorker, methods: readonly string[]): void {
  const calls = methods.map((method, index) => rpc(index + 1, method))
  const { buffer, texts } = encodeCalls(calls)
  worker.post({ type: 'batch', calls: calls.length, buffer, texts, results: [] })
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
    isOver: false,
  }
}

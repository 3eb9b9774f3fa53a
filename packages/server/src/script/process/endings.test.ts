import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createHarness, type Harness } from '../host.fixture.ts'
import { ofChannel } from './bad-faith.fixture.ts'

const endings = [
  ['exits', 'process.exit(0)'],
  ['exits with an error', 'process.exit(7)'],
  ['uses up its memory', 'for (const a = []; ; ) a.push(new Array(1000).fill(a.length))'],
  ['allocates all of it at once', 'new Array(3e7).fill(0).map((_, n) => [n])'],
  ['fills a map', 'for (const m = new Map(), n = [0]; ; n[0]++) m.set(n[0], n[0])'],
  ['keeps buffers', 'for (const a = []; ; ) a.push(new Uint8Array(1e6).fill(1))'],
  ['closes its channel', 'closeSync(3)'],
  ['sends garbage', 'post("garbage")'],
  ['sends nothing', 'post(null)'],
  ['sends a false batch', 'post({ type: "batch" })'],
  ['sends a batch too much', 'post({ ...empty, answered: 9 })'],
  ['sends false records', 'post({ ...empty, words: 1, buffer: new Float64Array([77]).buffer })'],
  [
    'writes to its channel what is no message',
    'writeSync(3, Buffer.from([4, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]))',
  ],
  ['writes to its channel what has no form', 'writeSync(3, Buffer.from([0, 0, 0, 0, 9, 0, 0, 0]))'],
  ['writes to its channel a batch without its texts', 'writeSync(3, batch(0, 1))'],
  ['writes to its channel a batch without its buffer', 'writeSync(3, batch(8, 0))'],
  ['writes to its channel what never ends', 'writeSync(3, Buffer.alloc(64, 65))'],
  ['takes no message any more', 'channel()._handle.readStop()'],
  ['answers a ping that was not sent', 'post({ type: "pong", n: 77 })'],
  ['sends what cannot be read', 'post({ type: "print", level: "loud", text: "x", omitted: 0 })'],
] as const

describe('a worker that ends', () => {
  const ways = endings.map(([, body]) => `async () => { ${body} }`)
  const main = `
    import { closeSync, writeSync } from 'node:fs'
    ${ofChannel}
    const batch = (buffer: number, texts: number) =>
      Buffer.from(Uint32Array.from([16, 2, 0, 0, buffer, texts]).buffer)
    const nothing = { texts: [], calls: [], stopped: [] }
    const empty = { type: 'batch', answered: 0, words: 0, buffer: new ArrayBuffer(0), ...nothing }
    const ways = [${ways.join(',\n')}]
    const reasons: string[] = []
    guildhall.on_start(({ reason }) => { reasons.push(reason) })
    guildhall.on_rpc('go', async (_ctx, way) => {
      await ways[Number(new TextDecoder().decode(way))]()
      return new Promise(() => {})
    })
    guildhall.on_rpc('reasons', () => reasons)
  `
  const config = { deadline_ms: 15_000, restart_limit: endings.length + 1 }
  /** One host, whose worker is started again after each of them; another after one that failed. */
  let harness: Harness | undefined
  /** Not later than the worker that serves was started. */
  let startedMs = 0

  beforeEach(async () => {
    if (harness?.host.readiness().state === 'ready') return
    await harness?.close()
    harness = createHarness({ files: { 'main.ts': main }, config })
    startedMs = harness.clock.monotonicMs()
    await harness.host.start()
    expect(await harness.rpc('reasons')).toBe('["boot"]')
  })
  afterAll(() => harness?.close())

  it.each(endings.map(([name], way) => [name, way] as const))(
    '[S-REC-1] [S-REC-3] [S-REC-5] [S-WP-4] [O-ERR-1] is journalled and started again, and the node goes on: it %s',
    async (_name, way) => {
      if (harness === undefined) throw new Error('there is a host before each test')
      const { rpc, host, until, lines, journal, clock } = harness
      const { generation, recovery } = host.describe().readiness
      const [errors, logged] = [host.metrics().script_call_errors_total, lines('error').length]
      const journalled = (component?: string) =>
        journal
          .page({ offset: 0, limit: 99 })
          .entries.filter(
            (e) => !component || (e.category === 'worker' && e.component === component),
          )
          .reduce((sum, { count }) => sum + count, 0)
      const before = [journalled(), journalled('script')]
      expect(await rpc('go', String(way))).toEqual({ error: 'RPC runtime not available' })
      const failedMs = clock.monotonicMs()
      expect(host.metrics()).toMatchObject({
        script_call_timeouts_total: 0,
        script_call_errors_total: errors + 1,
      })
      expect(host.game.serving()).toBe(false)
      expect(host.describe()).toMatchObject({ script: null, readiness: { generation } })
      expect(host.describe().attached).toBe(false)
      await until(() => host.readiness().state === 'ready')
      const after = host.describe().readiness
      expect(await rpc('reasons')).toBe('["restart"]')
      expect(after).toMatchObject({ generation: Number(generation) + 1 })
      expect(after.recovery.circuit_open).toBe(false)
      // A slow machine may take so long that the worker was healthy before it failed.
      const isSoon = failedMs - startedMs < 30_000
      const counts = isSoon
        ? [recovery.consecutive_failures + 1]
        : [0, recovery.consecutive_failures + 1]
      expect(counts).toContain(after.recovery.consecutive_failures)
      expect([journalled(), journalled('script')]).toEqual(before.map((count) => count + 1))
      const fields = expect.objectContaining({ reason: expect.any(String) })
      expect(lines('error').slice(logged)).toContainEqual(
        expect.objectContaining({ message: 'the script worker failed', fields }),
      )
      startedMs = failedMs
    },
  )
})

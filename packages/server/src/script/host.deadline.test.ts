import { afterEach, describe, expect, it } from 'vitest'
import { createHarness, type Harness, player } from './host.fixture.ts'

const open: Harness[] = []

async function script(text: string, config = {}): Promise<Harness> {
  const harness = createHarness({ files: { 'main.ts': text }, config })
  open.push(harness)
  await harness.host.start()
  return harness
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((harness) => harness.close()))
})

describe('a handler that computes too long', () => {
  it.each([
    ['loops', 'for (;;) {}'],
    ['loops and catches', 'for (;;) { try { for (;;) {} } catch {} finally { continue } }'],
    ['recurses and catches', 'const f = () => { for (;;) { try { f() } catch {} } }; f()'],
    ['searches', '/^(a+)+$/.test("a".repeat(40) + "b")'],
    ['allocates', 'for (let a = []; ; a = a.length > 1e4 ? [] : a) a.push({})'],
    ['sends', 'for (;;) { try { guildhall.send(1, 100, "x") } catch {} }'],
    ['loops in an async function', 'await_()', 'async function await_() { for (;;) {} }'],
  ])(
    '[S-LIM-1] is interrupted while the worker lives on: it %s',
    async (_name, body, more = '') => {
      const { rpc, host, delivered, lines } = await script(
        `
      let state = 0
      ${more}
      guildhall.on_rpc('go', () => { state += 1; guildhall.send(1, 100, 'lost'); ${body} })
      guildhall.on_rpc('state', () => state)
    `,
        { deadline_ms: 30 },
      )
      const both = [rpc('go'), rpc('state', '', player(2)), rpc('go'), rpc('state')]
      expect(await Promise.all(both)).toEqual([
        { error: 'RPC handler timed out' },
        '1',
        { error: 'RPC handler timed out' },
        '2',
      ])
      expect(delivered).toEqual([])
      expect(host.metrics()).toMatchObject({
        script_call_timeouts_total: 2,
        script_interrupts_total: 2,
        script_worker_restarts_total: 0,
      })
      expect(lines('warn').map(({ message }) => message)).toEqual(
        Array(2).fill('a script handler was interrupted at its deadline'),
      )
    },
  )

  it('[S-LIM-1] is never interrupted before its deadline, wherever it stands in its batch', async () => {
    const deadline_ms = 40
    const { host, rpc } = await script(
      `
      const starts: number[] = []
      guildhall.on_message(100, (ctx, body) => {
        starts.push(performance.now())
        while (body[0] === 255 || performance.now() < starts.at(-1) + body[0]);
      })
      guildhall.on_rpc('starts', () => starts)
    `,
      { deadline_ms },
    )
    const endless = 255
    const spins = Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? 1 : 15))
    const outcomes = await Promise.all(
      [...spins, endless, 0].map((spinMs) => {
        const message = { kind: 100, body: new Uint8Array([spinMs]), unreliable: false }
        return new Promise<string>((resolve) => host.game.message(player(1), message, resolve))
      }),
    )
    expect(outcomes[spins.length]).toBe('failed')
    // Each fits its own deadline, in total they are far beyond it. On a busy machine one may still
    // be held up for long; but where one was interrupted, the next began no sooner than that.
    const starts: number[] = JSON.parse(String(await rpc('starts')))
    outcomes.forEach((outcome, n) => {
      const lastedMs = Number(starts[n + 1]) - Number(starts[n])
      if (outcome !== 'ok') expect(lastedMs).toBeGreaterThanOrEqual(deadline_ms)
    })
  })

  it('[S-LIM-1] keeps what other handlers wait for', async () => {
    const { rpc, message } = await script(
      `
      let wake = () => {}
      guildhall.on_rpc('wait', async () => {
        await new Promise<void>((resolve) => { wake = resolve })
        const sessions = await guildhall.session_list()
        return 'woken ' + sessions.length
      })
      guildhall.on_message(100, () => { for (;;) {} })
      guildhall.on_message(101, () => wake())
    `,
      { deadline_ms: 20 },
    )
    const waiting = rpc('wait')
    expect(await message(100)).toBe('failed')
    expect(await message(101)).toBe('ok')
    expect(await waiting).toBe('woken 0')
  })

  it('[S-LIM-1] leaves no caller behind for what comes after it', async () => {
    const { message, delivered, until } = await script(
      `
      guildhall.on_message(100, () => { for (;;) {} })
      guildhall.on_message(101, () => { setTimeout(() => guildhall.broadcast(100, 'x'), 1) })
    `,
      { deadline_ms: 20 },
    )
    await message(100, '', player(1, { room_id: 9 }))
    await message(101, '', player(2, { room_id: 8 }))
    await until(() => delivered.length > 0)
    expect(delivered).toMatchObject([{ sender: 0, room_id: null }])
  })

  it('[S-LIM-1] gives ticks a deadline of their own', async () => {
    const { host, until } = await script(`guildhall.on_tick(() => { for (;;) {} })`, {
      tick_hz: 20,
      tick_deadline_ms: 5,
      deadline_ms: 5000,
    })
    await until(() => host.metrics().script_interrupts_total >= 2)
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })

  it.each([
    ['after an await of the host', 'await guildhall.session_list(); for (;;) {}'],
    ['after its own wait', 'await new Promise((r) => setTimeout(r, 1)); for (;;) {}'],
    ['in its own microtask', 'await null; for (;;) {}'],
    ['in a loop that the engine does not interrupt', 'for (let a; ; ) a = new Array(1000).fill(1)'],
    ['in native code', '(await import("node:child_process")).execSync("sleep 30")'],
  ])('[S-LIM-2] costs the worker where the engine cannot interrupt it: %s', async (_name, body) => {
    const { rpc, until, host, lines } = await script(
      `
      let state = 0
      guildhall.on_rpc('go', async () => { state += 1; ${body} })
      guildhall.on_rpc('state', () => state)
    `,
      // Also on a busy machine enough for the call that looks afterwards.
      { deadline_ms: 300 },
    )
    expect(await rpc('go')).toEqual({ error: 'RPC handler timed out' })
    expect(host.metrics()).toMatchObject({
      script_call_timeouts_total: 1,
      script_call_errors_total: 0,
    })
    await until(() => host.readiness().state === 'ready')
    expect(await rpc('state')).toBe('0')
    expect(host.describe().readiness.generation).toBe(2)
    expect(lines('error')).toMatchObject([{ message: 'the script worker failed' }])
  })

  it('[S-LIM-2] [S-REC-5] leaves to others that their worker is gone, if it is known', async () => {
    const { rpc, host } = await script(
      `
      guildhall.on_rpc('wait', () => new Promise(() => {}))
      guildhall.on_rpc('go', () => { for (let a; ; ) a = new Array(1000).fill(1) })
    `,
      { deadline_ms: 50 },
    )
    const outcomes = [rpc('wait'), rpc('go', '', player(2)), rpc('wait', '', player(3))]
    expect(await Promise.all(outcomes)).toEqual([
      { error: 'RPC runtime not available' },
      { error: 'RPC handler timed out' },
      { error: 'RPC runtime not available' },
    ])
    expect(host.metrics()).toMatchObject({
      script_call_timeouts_total: 1,
      script_call_errors_total: 2,
    })
  })

  it('[S-LIM-2] [S-REC-5] blames no call that had not begun', async () => {
    const { rpc, host, clock } = await script(
      `
      guildhall.on_rpc('go', async () => { await guildhall.session_list(); for (;;) {} })
      guildhall.on_rpc('late', () => 'never')
    `,
      { deadline_ms: 500 },
    )
    const looping = rpc('go')
    await clock.sleep(400)
    const late = rpc('late', '', player(2))
    expect(await looping).toEqual({ error: 'RPC handler timed out' })
    expect(await late).toEqual({ error: 'RPC runtime not available' })
    expect(host.metrics().script_call_timeouts_total).toBe(1)
  })

  it('[S-LIM-4] is given up after its timeout, and what it still does has no effect', async () => {
    const { rpc, message, delivered } = await script(
      `
      const codes: unknown[] = []
      guildhall.on_rpc('go', async () => {
        await new Promise((resolve) => setTimeout(resolve, 1500))
        try { guildhall.send(1, 100, 'too late') } catch (error) { codes.push(error.code) }
        await guildhall.session_list().catch((error) => codes.push(error.code))
        return 'too late'
      })
      guildhall.on_message(100, () => new Promise(() => {}))
      guildhall.on_message(101, () => {})
      guildhall.on_rpc('codes', () => codes)
    `,
      { call_timeout_ms: 300 },
    )
    const lane = [message(100), message(101)]
    expect(await rpc('go')).toEqual({ error: 'RPC handler timed out' })
    expect(await Promise.all(lane)).toEqual(['failed', 'ok'])
    let codes: string | { error: string } = '[]'
    while (codes === '[]') codes = await rpc('codes')
    while (codes === '["timeout"]') codes = await rpc('codes')
    expect(codes).toBe('["timeout","timeout"]')
    expect(delivered).toEqual([])
  })
})

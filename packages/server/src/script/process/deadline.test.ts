import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { player, shareHarness, startHarness } from '../host.fixture.ts'
import { batchLimits } from '../wire/limits.ts'

/** Also on a busy machine enough for the calls beside the one that runs into it. */
const roomyMs = 300

const script = (text: string, config = {}) => startHarness({ files: { 'main.ts': text }, config })

const endless: readonly (readonly [what: string, body: string, more?: string])[] = [
  ['loops', 'for (;;) {}'],
  ['loops and catches', 'for (;;) { try { for (;;) {} } catch {} finally { continue } }'],
  ['recurses and catches', 'const f = () => { for (;;) { try { f() } catch {} } }; f()'],
  ['searches', '/^(a+)+$/.test("a".repeat(40) + "b")'],
  ['allocates', 'for (let a = []; ; a = a.length > 1e4 ? [] : a) a.push({})'],
  ['sends', 'for (;;) { try { guildhall.send(1, 100, "x") } catch {} }'],
  ['loops in an async scope', 'scope.runInAsyncScope(() => { for (;;) {} })'],
  ['loops in an async function', 'await_()', 'async function await_() { for (;;) {} }'],
]

/** Of a script: what comes meanwhile is read in the same turn. */
const holding = `
  import { existsSync, writeFileSync } from 'node:fs'
  const file = (name) => new URL(name, import.meta.url)
  const hold = () => {
    writeFileSync(file('held'), '')
    while (!existsSync(file('free')));
  }`

describe('a handler that computes too long', () => {
  const shared = shareHarness({
    files: {
      'main.ts': `
        import { AsyncResource } from 'node:async_hooks'
        const scope = new AsyncResource('game')
        let state = 0
        ${endless
          .map(([, body, more = ''], n) => {
            const go = `() => { state += 1; guildhall.send(1, 100, 'lost'); ${body} }`
            return `${more}\nguildhall.on_rpc('go ${n}', ${go})`
          })
          .join('\n')}
        import { Session } from 'node:inspector'
        guildhall.on_rpc('itself', () => {
          const inspector = new Session()
          inspector.connect()
          inspector.post('Runtime.terminateExecution')
        })
        guildhall.on_rpc('state', () => state)`,
    },
    config: { deadline_ms: roomyMs },
  })

  it.each(endless.map(([what], n) => [what, n] as const))(
    '[S-LIM-1] is interrupted while the worker lives on: it %s',
    async (_what, n) => {
      const { rpc, host, delivered, lines } = shared()
      const state = Number(await rpc('state'))
      const { script_call_timeouts_total, script_interrupts_total } = host.metrics()
      const warned = lines('warn').length
      const go = `go ${n}`
      const both = [rpc(go), rpc('state', '', player(2)), rpc(go), rpc('state')]
      expect(await Promise.all(both)).toEqual([
        { error: 'RPC handler timed out' },
        String(state + 1),
        { error: 'RPC handler timed out' },
        String(state + 2),
      ])
      expect(delivered).toEqual([])
      expect(host.metrics()).toMatchObject({
        script_call_timeouts_total: script_call_timeouts_total + 2,
        script_interrupts_total: script_interrupts_total + 2,
        script_worker_restarts_total: 0,
      })
      const messages = lines('warn').map(({ message }) => message)
      expect(messages.slice(warned)).toEqual(
        Array(2).fill('a script handler was interrupted at its deadline'),
      )
    },
  )

  it('[S-LIM-1] nor does the worker end with one that interrupts itself', async () => {
    const { rpc, host } = shared()
    const both = [rpc('itself'), rpc('state', '', player(2)), rpc('itself')]
    const outcome = { error: 'RPC handler timed out' }
    expect(await Promise.all(both)).toEqual([outcome, expect.any(String), outcome])
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })

  it('[S-LIM-1] is never interrupted before its deadline, wherever it stands in its batch', async () => {
    const deadline_ms = 40
    const { host, rpc } = await script(
      `
      const marks: number[][] = []
      guildhall.on_message(100, (ctx, [n, spinMs]) => {
        const own = marks[n] = [performance.now()]
        while (spinMs === 255 || performance.now() < own[0] + spinMs);
        own.push(performance.now())
      })
      guildhall.on_rpc('marks', () => marks)
    `,
      { deadline_ms },
    )
    const endless = 255
    const spins = Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? 1 : 15))
    const outcomes = await Promise.all(
      [...spins, endless, 0].map((spinMs, n) => {
        const message = { kind: 100, body: new Uint8Array([n, spinMs]), unreliable: false }
        return new Promise<string>((resolve) => host.game.message(player(1), message, resolve))
      }),
    )
    expect(outcomes[spins.length]).toBe('failed')
    let answer = await rpc('marks')
    while (typeof answer !== 'string') answer = await rpc('marks')
    const marks: (number[] | null)[] = JSON.parse(answer)
    // Each fits its own deadline, in total they are far beyond it. On a busy machine one may still
    // be held up for long, also before its first line; but where one was interrupted, its deadline
    // lies between what was there before it began and what came after.
    for (const [n, outcome] of outcomes.entries()) {
      if (outcome === 'ok') {
        expect(marks[n]).toHaveLength(2)
        continue
      }
      const before = Math.max(...marks.slice(0, n).flatMap((own) => own ?? []))
      const after = Math.min(...marks.slice(n + 1).flatMap((own) => own ?? []))
      expect(after - before).toBeGreaterThanOrEqual(deadline_ms)
    }
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
      { deadline_ms: roomyMs },
    )
    const waiting = rpc('wait')
    expect(await message(100)).toBe('failed')
    expect(await message(101)).toBe('ok')
    expect(await waiting).toBe('woken 0')
  })

  it('[S-LIM-1] is interrupted also where it had to wait for another handler', async () => {
    const { message, host } = await script(
      `
      guildhall.on_message(100, () => new Promise((resolve) => setTimeout(resolve, 5)))
      guildhall.on_message(101, () => { for (;;) {} })
    `,
      { deadline_ms: roomyMs },
    )
    const lane = [message(100), message(101), message(100)]
    expect(await Promise.all(lane)).toEqual(['ok', 'failed', 'ok'])
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })

  it('[S-LIM-1] takes nothing with it of what came behind it', async () => {
    const { rpc, host } = await script(
      `
      guildhall.on_rpc('go', () => { for (;;) {} })
      guildhall.on_rpc('state', () => 'here')
    `,
      { deadline_ms: roomyMs },
    )
    // Two batches at once, the second a quarter full.
    const behind = Array.from({ length: batchLimits.calls * 1.25 }, (_, n) => {
      return rpc(n === 0 ? 'go' : 'state', '', player(n + 1))
    })
    const [first, ...others] = await Promise.all(behind)
    expect(first).toEqual({ error: 'RPC handler timed out' })
    expect(new Set(others)).toEqual(new Set(['here']))
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })

  it('[S-LIM-1] [S-INV-4] what is in the same turn ends with its own slices', async () => {
    const { message, delivered } = await script(
      `
      guildhall.on_message(100, () => { for (;;) {} })
      guildhall.on_message(101, async () => {
        guildhall.broadcast(100, 'x')
        await null
        throw new Error('in the same slice')
      })
    `,
      { deadline_ms: roomyMs },
    )
    const turn = [101, 100, 101].map((kind, n) => message(kind, '', player(n + 1)))
    expect(await Promise.all(turn)).toEqual(['failed', 'failed', 'failed'])
    expect(delivered).toEqual([])
  })

  it('[S-LIM-1] [S-INV-3] leaves to others in the same turn what is theirs', async () => {
    const { message, delivered, until, folder } = await script(
      `
      ${holding}
      guildhall.on_message(100, () => { for (;;) {} })
      guildhall.on_message(101, async () => {
        await new Promise((resolve) => setTimeout(resolve))
        hold()
        await guildhall.session_list()
        guildhall.broadcast(100, 'mine')
      })
    `,
      { deadline_ms: roomyMs },
    )
    const first = message(101, '', player(7, { room_id: 9 }))
    await until(() => existsSync(join(folder, 'held')))
    const second = message(100, '', player(8))
    setTimeout(() => writeFileSync(join(folder, 'free'), ''), 20)
    expect(await Promise.all([first, second])).toEqual(['ok', 'failed'])
    expect(delivered).toMatchObject([{ sender: 7, room_id: 9 }])
  })

  it('[S-INV-3] [S-INV-4] ends before what the script does in the same turn', async () => {
    const { message, delivered, until, folder } = await script(
      `
      ${holding}
      guildhall.on_message(100, () => { guildhall.broadcast(100, 'lost'); for (;;) {} })
      guildhall.on_message(101, async () => {
        guildhall.broadcast(100, 'first')
        await null
        guildhall.broadcast(100, 'second')
      })
      guildhall.on_message(102, () => void setTimeout(() => {
        setImmediate(() => guildhall.broadcast(100, 'own'))
        hold()
      }))
    `,
      { deadline_ms: roomyMs },
    )
    await message(102)
    await until(() => existsSync(join(folder, 'held')))
    const both = [message(101, '', player(7)), message(100, '', player(8))]
    setTimeout(() => writeFileSync(join(folder, 'free'), ''), 20)
    expect(await Promise.all(both)).toEqual(['ok', 'failed'])
    const own = delivered.map(({ text, sender }) => `${text} ${sender}`)
    expect(own.toSorted()).toEqual(['first 7', 'own 0', 'second 7'])
    expect(own.indexOf('first 7')).toBeLessThan(own.indexOf('second 7'))
  })

  it('[S-LIM-1] leaves no caller behind for what comes after it', async () => {
    const { message, delivered, until } = await script(
      `
      guildhall.on_message(100, () => { for (;;) {} })
      guildhall.on_message(101, () => { setTimeout(() => guildhall.broadcast(100, 'x'), 1) })
    `,
      { deadline_ms: roomyMs },
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

  const uninterrupted = [
    ['after an await of the host', 'await guildhall.session_list(); for (;;) {}'],
    ['after its own wait', 'await new Promise((r) => setTimeout(r, 1)); for (;;) {}'],
    ['in its own microtask', 'await null; for (;;) {}'],
    ['in a loop that the engine does not interrupt', 'for (let a; ; ) a = new Array(1000).fill(1)'],
    ['in native code', '(await import("node:child_process")).execSync("sleep 30")'],
  ] as const
  const fragile = shareHarness({
    files: {
      'main.ts': `
        let state = 0
        ${uninterrupted
          .map(([, body], n) => `guildhall.on_rpc('go ${n}', async () => { state += 1; ${body} })`)
          .join('\n')}
        guildhall.on_rpc('state', () => state)`,
    },
    config: { deadline_ms: roomyMs, restart_limit: uninterrupted.length + 1 },
  })

  it.each(uninterrupted.map(([what], n) => [what, n] as const))(
    '[S-LIM-2] costs the worker where the engine cannot interrupt it: %s',
    async (_what, n) => {
      const { rpc, until, host, lines } = fragile()
      const { script_call_timeouts_total, script_call_errors_total } = host.metrics()
      const { generation } = host.describe().readiness
      const failed = lines('error').length
      expect(await rpc('state')).toBe('0')
      expect(await rpc(`go ${n}`)).toEqual({ error: 'RPC handler timed out' })
      expect(host.metrics()).toMatchObject({
        script_call_timeouts_total: script_call_timeouts_total + 1,
        script_call_errors_total,
      })
      await until(() => host.readiness().state === 'ready')
      expect(await rpc('state')).toBe('0')
      expect(host.describe().readiness.generation).toBe(Number(generation) + 1)
      expect(lines('error').slice(failed)).toMatchObject([{ message: 'the script worker failed' }])
    },
  )

  it('[S-LIM-2] [S-REC-5] leaves to others that their worker is gone, if it is known', async () => {
    const { rpc, host } = await script(
      `
      guildhall.on_rpc('wait', () => new Promise(() => {}))
      guildhall.on_rpc('go', () => { for (let a; ; ) a = new Array(1000).fill(1) })
    `,
      { deadline_ms: roomyMs },
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
    const { rpc, host, until, folder } = await script(
      `
      import { writeFileSync } from 'node:fs'
      guildhall.on_rpc('go', async () => {
        await guildhall.session_list()
        writeFileSync(new URL('looping', import.meta.url), '')
        for (;;) {}
      })
      guildhall.on_rpc('late', () => 'never')
    `,
      { deadline_ms: 500 },
    )
    const looping = rpc('go')
    await until(() => existsSync(join(folder, 'looping')))
    // A quarter of a batch is sent although the one before is not answered.
    const late = Array.from({ length: batchLimits.calls / 4 }, (_, n) => {
      return rpc('late', '', player(n + 2))
    })
    expect(await looping).toEqual({ error: 'RPC handler timed out' })
    for (const each of await Promise.all(late)) {
      expect(each).toEqual({ error: 'RPC runtime not available' })
    }
    expect(host.metrics().script_call_timeouts_total).toBe(1)
  })

  it('[S-LIM-4] is given up after its timeout, and what it still does has no effect', async () => {
    const { rpc, message, delivered } = await script(
      `
      const codes: unknown[] = []
      let wake = () => {}
      guildhall.on_rpc('go', async () => {
        await new Promise<void>((resolve) => { wake = resolve })
        try { guildhall.send(1, 100, 'too late') } catch (error) { codes.push(error.code) }
        try { guildhall.topic_join('t', 1) } catch (error) { codes.push(error.code) }
        await guildhall.session_list().catch((error) => codes.push(error.code))
        return 'too late'
      })
      guildhall.on_message(100, () => new Promise(() => {}))
      guildhall.on_message(101, () => {})
      guildhall.on_rpc('codes', () => { wake(); return codes })
    `,
      { call_timeout_ms: 300 },
    )
    const lane = [message(100), message(101)]
    expect(await rpc('go')).toEqual({ error: 'RPC handler timed out' })
    expect(await Promise.all(lane)).toEqual(['failed', 'ok'])
    let codes: string | { error: string } = '[]'
    while (codes === '[]') codes = await rpc('codes')
    while (codes === '["timeout","timeout"]') codes = await rpc('codes')
    expect(codes).toBe('["timeout","timeout","timeout"]')
    expect(delivered).toEqual([])
  })
})

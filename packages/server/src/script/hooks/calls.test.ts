import { describe, expect, it } from 'vitest'
import { player, startHarness } from '../host.fixture.ts'

const script = (text: string, config = {}) => startHarness({ files: { 'main.ts': text }, config })

describe('hooks', () => {
  it('[S-HK-1] give the handler who calls, and what it called', async () => {
    const { rpc, message, host } = await script(`
      const seen: object[] = []
      guildhall.on_join((ctx) => { seen.push(['join', ctx]) })
      guildhall.on_message(100, (ctx, body) => { seen.push(['message', ctx, [...body]]) })
      guildhall.on_leave((ctx) => { seen.push(['leave', ctx]) })
      guildhall.on_rpc('seen', (ctx) => [...seen, ['rpc', ctx]])
    `)
    const guest = player(7, { user_id: null, username: null, room_id: 3, match_id: 'mt1-a' })
    host.game.join(guest)
    await message(100, 'hi', { ...guest, match_id: null })
    host.game.leave(guest)
    const common = { sender: 7, user_id: null, username: null, room_id: 3, origin: 'player' }
    expect(JSON.parse(String(await rpc('seen', '', player(8))))).toEqual([
      ['join', { ...common, match_id: 'mt1-a' }],
      ['message', { ...common, match_id: null, kind: 100, unreliable: false }, [104, 105]],
      ['leave', { ...common, match_id: 'mt1-a' }],
      [
        'rpc',
        {
          sender: 8,
          user_id: 'user-8',
          username: 'name-8',
          room_id: null,
          match_id: null,
          origin: 'player',
          method: 'seen',
        },
      ],
    ])
  })

  it('[S-HK-3] take bytes, text, nothing and whatever JSON can say as a reply', async () => {
    const replies: [name: string, expression: string, expected: string][] = [
      ['bytes', 'new Uint8Array([104, 105])', 'hi'],
      ['text', '"grüße"', 'grüße'],
      ['nothing', 'undefined', ''],
      ['null', 'null', ''],
      ['an object', '({ a: [1, true, null] })', '{"a":[1,true,null]}'],
      ['a number', '42', '42'],
      ['a promise', 'Promise.resolve("later")', 'later'],
      ['a promise of another make', '({ then: (done) => done("then") })', 'then'],
      ['64 KiB', '"x".repeat(65536)', 'x'.repeat(65536)],
    ]
    const { rpc } = await script(
      replies
        .map(([name, expression]) => `guildhall.on_rpc('${name}', () => (${expression}) as never)`)
        .join('\n'),
    )
    for (const [name, , expected] of replies) expect(await rpc(name), name).toBe(expected)
  })

  it('[S-HK-3] [S-SEE-2] answer with a fixed text when they fail, whatever they throw', async () => {
    const failures: [name: string, body: string, error: string][] = [
      ['throws', 'throw new Error("secret")', 'RPC handler error'],
      ['throws no error', 'throw 7', 'RPC handler error'],
      ['throws nothing', 'throw undefined', 'RPC handler error'],
      ['throws what cannot be read', 'throw { get message() { throw 1 } }', 'RPC handler error'],
      ['rejects', 'return Promise.reject(new Error("secret"))', 'RPC handler error'],
      ['replies what JSON cannot say', 'return 2n ** 63n', 'RPC handler error'],
      ['replies a function', 'return () => 1', 'RPC handler error'],
      ['fails with a text', 'guildhall.fail("no gold")', 'no gold'],
      [
        'fails later with a text',
        'return Promise.resolve().then(() => guildhall.fail("late"))',
        'late',
      ],
      ['fails without a text', 'guildhall.fail("")', 'RPC handler error'],
      ['fails with a long text', 'guildhall.fail("x".repeat(257))', 'RPC handler error'],
      ['fails with a wrong code', 'guildhall.fail("a", { code: "No" })', 'RPC handler error'],
      [
        'fails with much data',
        'guildhall.fail("a", { data: "x".repeat(4095) })',
        'RPC handler error',
      ],
      ['fails with what is no JSON', 'guildhall.fail("a", { data: () => 1 })', 'RPC handler error'],
      ['fails with an unknown option', 'guildhall.fail("a", { kind: 1 })', 'RPC handler error'],
      ['replies too much', 'return "x".repeat(65537)', 'RPC reply too large'],
      ['replies too many bytes', 'return "ü".repeat(32769)', 'RPC reply too large'],
    ]
    const { rpc, lines, host } = await script(
      failures.map(([name, body]) => `guildhall.on_rpc('${name}', () => { ${body} })`).join('\n'),
    )
    for (const [name, , error] of failures) expect(await rpc(name), name).toEqual({ error })
    expect(lines('error')).toEqual([])
    const fields = { hook: 'on_rpc', reason: 'it returned 65538 bytes, of 65536 at the most' }
    expect(lines('warn').at(-1)).toMatchObject({
      message: 'a script handler returned too much',
      fields: { ...fields, method: 'replies too many bytes' },
    })
    expect(host.failures().items[0]).toMatchObject({ hook: 'on_rpc', reason: fields.reason })
    expect(host.metrics()).toMatchObject({
      script_call_errors_total: failures.length,
      script_worker_restarts_total: 0,
    })
  })

  it('[S-HK-3] [R-RPC-6] fail with a code and data, also after a wait', async () => {
    const { host } = await script(`
      guildhall.on_rpc('plain', () => guildhall.fail('no'))
      guildhall.on_rpc('both', () => guildhall.fail('no', { code: 'gold.low', data: { n: 2n ** 60n } }))
      guildhall.on_rpc('late', async () => {
        await null
        guildhall.fail('no', { data: ['x'] })
      })
    `)
    const fail = (method: string) => host.game.rpc(player(1), method, new Uint8Array())
    const failed = (code: string, data: unknown) => ({
      ok: false,
      error: 'no',
      more: { code, data },
    })
    expect(await fail('plain')).toEqual(failed('rpc_failed', null))
    expect(await fail('both')).toEqual(failed('gold.low', { n: 2n ** 60n }))
    expect(await fail('late')).toEqual(failed('rpc_failed', ['x']))
  })

  it('[S-HK-3] drop what a hook without an answer has done, and log nothing', async () => {
    const { host, rpc, lines } = await script(`
      let joins = 0
      guildhall.on_join(() => {
        joins += 1
        guildhall.broadcast(100, 'never')
        guildhall.fail('enough')
      })
      guildhall.on_rpc('joins', () => joins)
    `)
    host.game.join(player(1))
    expect(await rpc('joins')).toBe('1')
    expect(lines('warn')).toEqual([])
  })

  it('[S-GEN-2] log a failure with hook, revision and line', async () => {
    const { rpc, lines, host } = await script(
      `\nguildhall.on_rpc('go', () => {\n  throw new Error('broken')\n})`,
    )
    await rpc('go')
    expect(lines('warn')).toMatchObject([
      {
        message: 'a script handler failed',
        fields: {
          hook: 'on_rpc',
          method: 'go',
          at: 'main.ts:3',
          reason: 'Error: broken',
          revision_id: host.describe().readiness.revision_id,
        },
      },
    ])
  })

  it('[S-SEE-1] answer an unknown method without troubling the script', async () => {
    const { rpc, host } = await script(`guildhall.on_rpc('known', () => 1)`)
    expect(await rpc('toString')).toEqual({ error: 'unknown RPC method' })
    expect(await host.consoleRpc('matchmaker.add', '')).toEqual({
      ok: false,
      error: 'unknown RPC method',
    })
  })

  it('[S-CRPC-1] [S-CRPC-2] run for an operator without a sender', async () => {
    const { host } = await script(`
      guildhall.on_rpc('who', (ctx, body) => [ctx.sender, ctx.user_id, ctx.origin, body.length])
      guildhall.on_rpc('raw', () => new Uint8Array([65, 255]))
      guildhall.on_rpc('no', () => guildhall.fail('not today'))
    `)
    const reply = JSON.stringify([0, null, 'console', 3])
    expect(await host.consoleRpc('who', 'abc')).toEqual({ ok: true, reply })
    expect(await host.consoleRpc('raw', '')).toEqual({ ok: true, reply: 'A\uFFFD' })
    expect(await host.consoleRpc('no', '')).toEqual({ ok: false, error: 'not today' })
  })

  it('[S-HK-4] tick with the time that has passed', async () => {
    const harness = await script(
      `
      const ticks: unknown[] = []
      guildhall.on_tick((dt, room_id) => { ticks.push([dt, room_id]) })
      guildhall.on_rpc('ticks', () => ticks)
    `,
      { tick_hz: 100 },
    )
    const { host, rpc } = harness
    await harness.until(() => host.metrics().script_ticks_total >= 3)
    const ticks: [number, null][] = JSON.parse(String(await rpc('ticks')))
    expect(ticks.length).toBeGreaterThanOrEqual(2)
    for (const [dt, room] of ticks) {
      expect(dt).toBeGreaterThan(0)
      expect(room).toBeNull()
    }
  })
})

import { afterEach, describe, expect, it } from 'vitest'
import { createHarness, type Harness, type HarnessOptions, player } from './host.harness.ts'

const open: Harness[] = []

async function start(options: HarnessOptions): Promise<Harness> {
  const harness = createHarness(options)
  open.push(harness)
  await harness.host.start()
  return harness
}

const script = (text: string, config = {}) => start({ files: { 'main.ts': text }, config })

afterEach(async () => {
  await Promise.all(open.splice(0).map((harness) => harness.close()))
})

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
      ['replies what JSON cannot say', 'return 1n', 'RPC handler error'],
      ['replies a function', 'return () => 1', 'RPC handler error'],
      ['fails with a text', 'guildhall.fail("no gold")', 'no gold'],
      [
        'fails later with a text',
        'return Promise.resolve().then(() => guildhall.fail("late"))',
        'late',
      ],
      ['fails without a text', 'guildhall.fail("")', 'RPC handler error'],
      ['fails with a long text', 'guildhall.fail("x".repeat(257))', 'RPC handler error'],
      ['replies too much', 'return "x".repeat(65537)', 'RPC reply too large'],
      ['replies too many bytes', 'return "ü".repeat(32769)', 'RPC reply too large'],
    ]
    const { rpc, lines, host } = await script(
      failures.map(([name, body]) => `guildhall.on_rpc('${name}', () => { ${body} })`).join('\n'),
    )
    for (const [name, , error] of failures) expect(await rpc(name), name).toEqual({ error })
    expect(lines('error')).toEqual([])
    expect(host.metrics()).toMatchObject({
      script_call_errors_total: failures.length,
      script_worker_restarts_total: 0,
    })
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

describe('messaging', () => {
  it('[S-API-5] broadcasts to the room of the sender, or to all, as the options say', async () => {
    const { message, delivered } = await script(`
      guildhall.on_message(100, (_ctx, body) => {
        guildhall.broadcast(100, body)
        guildhall.broadcast(101, 'all', true, { scope: 'all' })
        guildhall.broadcast(102, 'other', false, { room_id: 9, except: [4, 5] })
      })
    `)
    expect(await message(100, 'a', player(1, { room_id: 3 }))).toBe('ok')
    expect(await message(100, 'b', player(2))).toBe('ok')
    expect(delivered.map(({ bytes: _bytes, ...rest }) => rest)).toEqual([
      {
        to: 'broadcast',
        kind: 100,
        text: 'a',
        unreliable: false,
        sender: 1,
        room_id: 3,
        except: [],
      },
      {
        to: 'broadcast',
        kind: 101,
        text: 'all',
        unreliable: true,
        sender: 1,
        room_id: null,
        except: [],
      },
      {
        to: 'broadcast',
        kind: 102,
        text: 'other',
        unreliable: false,
        sender: 1,
        room_id: 9,
        except: [4, 5],
      },
      {
        to: 'broadcast',
        kind: 100,
        text: 'b',
        unreliable: false,
        sender: 2,
        room_id: null,
        except: [],
      },
      {
        to: 'broadcast',
        kind: 101,
        text: 'all',
        unreliable: true,
        sender: 2,
        room_id: null,
        except: [],
      },
      {
        to: 'broadcast',
        kind: 102,
        text: 'other',
        unreliable: false,
        sender: 2,
        room_id: 9,
        except: [4, 5],
      },
    ])
  })

  it('[S-API-6] sends one body to many once, and never what was changed in between', async () => {
    const { message, delivered } = await script(`
      guildhall.on_message(100, () => {
        const body = new Uint8Array([1])
        guildhall.send(5, 100, body)
        guildhall.send(6, 100, body)
        guildhall.send(7, 101, body)
        body[0] = 2
        guildhall.send(8, 101, body)
        guildhall.send(9, 101, 'x')
        guildhall.send(10, 101, 'x', true)
      })
    `)
    await message(100)
    expect(
      delivered.map(({ kind, bytes, participants, unreliable }) => [
        kind,
        bytes,
        participants,
        unreliable,
      ]),
    ).toEqual([
      [100, [1], [5, 6], false],
      [101, [1], [7], false],
      [101, [2], [8], false],
      [101, [120], [9], false],
      [101, [120], [10], true],
    ])
  })

  it('[S-API-1] refuses wrong arguments with a code, and then sends nothing of them', async () => {
    const { rpc, delivered } = await script(`
      const g = guildhall as never as { [name: string]: (...args: unknown[]) => unknown }
      const calls: [string, ...unknown[]][] = [
        ['send', 1, 99, 'x'], ['send', 1, 2, 'x'], ['send', 1, 65536, 'x'], ['send', 1, 100.5, 'x'],
        ['send', -1, 100, 'x'], ['send', 1.5, 100, 'x'], ['send', '1', 100, 'x'],
        ['send', 1, 100, 5], ['send', 1, 100, 'x', 1], ['broadcast', 0, 'x'], ['broadcast', 100, null],
        ['broadcast', 100, 'x', false, null], ['broadcast', 100, 'x', false, { scope: 'world' }],
        ['broadcast', 100, 'x', false, { scope: 'room' }], ['broadcast', 100, 'x', false, { room: 1 }],
        ['broadcast', 100, 'x', false, { except: [-1] }], ['broadcast', 100, 'x', false, { except: 3 }],
        ['after', 0, () => {}], ['after', 86400001, () => {}], ['after', 1.5, () => {}], ['after', 1, 2],
        ['cancel', 'x'], ['pack_u64', -1], ['pack_u64', 2n ** 64n], ['pack_u64', 1.5], ['trace', 1], ['trace', 'x', 'loud'],
        ['on_rpc', 'late', () => {}], ['on_message', 200, () => {}],
      ]
      guildhall.on_rpc('go', () => calls.map(([name, ...args]) => {
        try { g[name](...args); return name + ' ' + args.join() } catch (error) { return (error as { code: string }).code }
      }))
    `)
    const codes: string[] = JSON.parse(String(await rpc('go')))
    expect(codes.filter((code) => code !== 'invalid_argument')).toEqual([])
    expect(codes).toHaveLength(29)
    expect(delivered).toEqual([])
  })

  it('[S-API-6] allows kind 2 to a script that handles kind 1', async () => {
    const { message, delivered } = await script(
      `guildhall.on_message(1, (ctx, body) => guildhall.send(ctx.sender, 2, body))`,
    )
    expect(await message(1, 'p')).toBe('ok')
    expect(delivered).toMatchObject([{ kind: 2, text: 'p', participants: [1] }])
  })

  it('[S-API-2] packs integers as eight bytes, the highest first', async () => {
    const { rpc } = await script(`
      const values = [0, 258, 2 ** 52 - 1, Number.MAX_SAFE_INTEGER, 0xfedcba9876543210n]
      guildhall.on_rpc('go', () => values.map((n) => Buffer.from(guildhall.pack_u64(n)).toString('hex')))
    `)
    expect(JSON.parse(String(await rpc('go')))).toEqual([
      '0000000000000000',
      '0000000000000102',
      '000fffffffffffff',
      '001fffffffffffff',
      'fedcba9876543210',
    ])
  })

  it('[S-INV-4] drops the commands of a slice that fails, and keeps those of earlier ones', async () => {
    const { message, delivered } = await script(`
      guildhall.on_message(100, () => { guildhall.send(1, 100, 'sync'); throw new Error('x') })
      guildhall.on_message(101, async () => { guildhall.send(1, 101, 'async'); throw new Error('x') })
      guildhall.on_message(102, async () => {
        guildhall.send(1, 102, 'first slice')
        await guildhall.session_list()
        guildhall.send(1, 102, 'second slice')
        await guildhall.session_list()
        guildhall.send(1, 102, 'third slice')
        throw new Error('x')
      })
      guildhall.on_message(103, async () => {
        await guildhall.session_list()
        guildhall.broadcast(103, 'last')
      })
    `)
    expect([await message(100), await message(101), await message(102)]).toEqual(
      Array(3).fill('failed'),
    )
    expect(await message(103, '', player(1, { room_id: 5 }))).toBe('ok')
    expect(delivered.map(({ text }) => text)).toEqual(['first slice', 'second slice', 'last'])
    expect(delivered[2]).toMatchObject({ sender: 1, room_id: 5 })
  })

  it('[R-RPC-5] delivers what a handler sent before its reply', async () => {
    const { rpc, delivered } = await script(
      `guildhall.on_rpc('go', () => { guildhall.send(1, 100, 'first'); return 'reply' })`,
    )
    const counts = rpc('go').then(() => delivered.length)
    expect(await counts).toBe(1)
  })

  it('[S-LIM-3] stops an invocation at its limits with limit_exceeded', async () => {
    const { rpc, delivered } = await script(`
      const codeOf = (work: () => void) => {
        try { work(); return 'ok' } catch (error) { return (error as { code: string }).code }
      }
      guildhall.on_rpc('commands', () => codeOf(() => {
        for (let n = 0; n < 1024; n++) guildhall.send(1, 100, 'x')
      }) + ' ' + codeOf(() => guildhall.broadcast(100, 'x')))
      guildhall.on_rpc('body', () => codeOf(() => guildhall.send(1, 100, new Uint8Array(65537)))
        + ' ' + codeOf(() => guildhall.send(1, 100, 'ü'.repeat(40000))))
      guildhall.on_rpc('bodies', () => {
        const body = new Uint8Array(65536)
        return codeOf(() => { for (let n = 0; n < 16; n++) guildhall.send(n, 100, body) })
          + ' ' + codeOf(() => guildhall.send(1, 100, 'x'))
      })
      guildhall.on_rpc('calls', async () => {
        const results = await Promise.allSettled(Array.from({ length: 65 }, () => guildhall.session_list()))
        return results.map((r) => r.status === 'rejected' ? r.reason.code : '').join('')
      })
      guildhall.on_rpc('all calls', async () => {
        for (let n = 0; n < 1024; n++) await guildhall.session_list()
        return guildhall.session_list().then(() => 'ok', (error) => error.code)
      })
    `)
    expect(await rpc('commands')).toBe('ok limit_exceeded')
    expect(delivered.map(({ participants }) => participants?.length)).toEqual([1024])
    delivered.length = 0
    expect(await rpc('body')).toBe('limit_exceeded limit_exceeded')
    expect(delivered).toEqual([])
    expect(await rpc('bodies')).toBe('ok limit_exceeded')
    expect(await rpc('calls')).toBe('limit_exceeded')
    expect(await rpc('all calls')).toBe('limit_exceeded')
  })
})

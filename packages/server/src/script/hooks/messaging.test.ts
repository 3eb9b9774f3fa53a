import { describe, expect, it } from 'vitest'
import { openHarness, player, startHarness } from '../host.fixture.ts'

const script = (text: string, config = {}) => startHarness({ files: { 'main.ts': text }, config })

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
    expect(
      delivered.map(({ kind, text, unreliable, sender, room_id, except }) => [
        [kind, text, unreliable],
        { sender, room_id, except },
      ]),
    ).toEqual([
      [[100, 'a', false], { sender: 1, room_id: 3, except: [] }],
      [[101, 'all', true], { sender: 1, room_id: null, except: [] }],
      [[102, 'other', false], { sender: 1, room_id: 9, except: [4, 5] }],
      [[100, 'b', false], { sender: 2, room_id: null, except: [] }],
      [[101, 'all', true], { sender: 2, room_id: null, except: [] }],
      [[102, 'other', false], { sender: 2, room_id: 9, except: [4, 5] }],
    ])
    expect(delivered.every(({ to }) => to === 'broadcast')).toBe(true)
  })

  it('[R-HS-6] delivers what on_join sends, also late, before it reports that it has settled', async () => {
    const { host, delivered } = await script(`
      guildhall.on_join(async (ctx) => {
        guildhall.send(ctx.sender, 100, 'at once')
        await new Promise((resolve) => setTimeout(resolve, 20))
        guildhall.send(ctx.sender, 100, 'late')
        if (ctx.sender === 2) throw new Error('no')
      })
    `)
    const joined = (participant: number) =>
      new Promise<string[]>((resolve) => {
        const own = () => delivered.filter((each) => each.participants?.[0] === participant)
        host.game.join(player(participant), () => resolve(own().map(({ text }) => text)))
      })
    // The last slice of the second one fails, and its commands are dropped.
    expect(await Promise.all([joined(1), joined(2)])).toEqual([['at once', 'late'], ['at once']])
  })

  it('[R-HS-6] has nobody wait while no script serves', () => {
    const harness = openHarness({})
    let settled = 0
    harness.host.game.join(player(1), () => {
      settled += 1
    })
    expect(settled).toBe(1)
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
        const lists = Array.from({ length: 65 }, () => guildhall.session_list())
        const results = await Promise.allSettled(lists)
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

import { describe, expect, it } from 'vitest'
import { openHarness, startHarness } from '../../../host.fixture.ts'

const sandboxed = { tier: 'sandboxed' } as const
type Case = readonly [what: string, code: string]
/** A handler of each by its name, and one that says how often they have begun. */
const counted = (handlers: readonly Case[], form: '()' | 'async ()') => `
  let count = 0
  guildhall.on_rpc('count', () => count)
  ${handlers
    .map(([what, code]) => `guildhall.on_rpc('${what}', ${form} => { count += 1; ${code} })`)
    .join('\n')}
`
const start = (main: string, config = {}) =>
  startHarness({ files: { 'main.mjs': main }, config: { ...sandboxed, ...config } })

describe('a sandboxed script of TypeScript', () => {
  it('[S-SEL-5] [S-SEL-7] [S-HK-1] [S-API-5] strips types, imports its files, answers and sends', async () => {
    const { rpc, message, delivered } = await startHarness({
      config: sandboxed,
      files: {
        'main.ts': `
      import { greet } from './lib/greet.ts'
      import items from './items.json' with { type: 'json' }
      type Seen = { n: number }
      const seen: Seen = { n: 0 }
      guildhall.on_rpc('who', (ctx: { sender: number }, body: Uint8Array) => ({
        ...ctx, said: greet(new TextDecoder().decode(body)), items, big: 9007199254740993n,
      }))
      guildhall.on_rpc('bytes', () => guildhall.pack_u64(258n))
      guildhall.on_rpc('nothing', () => {})
      guildhall.on_rpc('tier', () => guildhall.tier)
      guildhall.on_message(100, (ctx, body) => {
        seen.n += 1
        guildhall.broadcast(101, body, undefined, { except: [7] })
      })
    `,
        'lib/greet.ts': '\ufeffexport const greet = (name: string): string => "hey " + name',
        'items.json': '\ufeff["sword"]',
      },
    })
    expect(await rpc('who', 'ö')).toContain(
      '"said":"hey ö","items":["sword"],"big":9007199254740993}',
    )
    expect(await rpc('bytes')).toBe('\0\0\0\0\0\0\u0001\u0002')
    expect(await rpc('nothing')).toBe('')
    expect(await rpc('tier')).toBe('sandboxed')
    await message(100, 'x')
    expect(delivered).toMatchObject([{ kind: 101, text: 'x', except: [7] }])
  })

  it('[S-INV-1] what follows a wait belongs to its handler, whoever ended the wait', async () => {
    const { rpc, delivered, until } = await start(`
      const waiting = []
      guildhall.on_rpc('wait', async (ctx) => {
        await new Promise((resolve) => waiting.push(resolve))
        guildhall.broadcast(100, 'of ' + ctx.sender)
        await null
        guildhall.broadcast(101, 'of ' + ctx.sender)
        return 'waited'
      })
      const shared = new Promise((resolve) => waiting.push(resolve))
      guildhall.on_rpc('share', async (ctx) => {
        await shared
        guildhall.broadcast(102, 'of ' + ctx.sender)
      })
      guildhall.on_rpc('end', () => { for (const go of waiting) go(); guildhall.broadcast(103, 'end') })
      guildhall.on_rpc('count', () => waiting.length)
    `)
    const about = (n: number) => ({
      participant: n,
      user_id: null,
      username: null,
      room_id: n * 10,
      match_id: null,
    })
    const waits = [rpc('wait', '', about(1)), rpc('wait', '', about(2)), rpc('share', '', about(3))]
    while ((await rpc('count')) !== '3');
    await rpc('end', '', about(4))
    expect(await Promise.all(waits)).toEqual(['waited', 'waited', ''])
    await until(() => delivered.length === 6)
    const seen = delivered.map(({ kind, text, room_id }) => [kind, text, room_id])
    expect(seen.sort()).toEqual([
      [100, 'of 1', 10],
      [100, 'of 2', 20],
      [101, 'of 1', 10],
      [101, 'of 2', 20],
      [102, 'of 3', 30],
      [103, 'end', 40],
    ])
  })

  it('[L-START-1] starts, flushes and sees no recordings of lag', async () => {
    const { rpc } = await start(`
      guildhall.on_rpc('lag', async () => {
        const { lag } = guildhall
        const calls = [lag.start, lag.flush, lag.status].map((call) => async () => call('x'))
        const codes = calls.map((call) => call().catch((error) => error.code))
        return (await Promise.all(codes)).join()
      })
    `)
    expect(await rpc('lag')).toBe('forbidden,forbidden,forbidden')
  })

  it('[S-API-1] [S-REC-1] sees refusals, and names file and line of the author’s code', async () => {
    const { rpc, lines } = await start(`
      guildhall.on_rpc('sync', () => { try { guildhall.send('x', 100, '') } catch (e) { return e.code } })
      guildhall.on_rpc('wait', async () => { try { await guildhall.wallet.get('x') } catch (e) { return e.code } })
      guildhall.on_rpc('list', async () => (await guildhall.session_list()).length)
      guildhall.on_rpc('fail', () => guildhall.fail('no gold'))
      guildhall.on_rpc('error', () => { throw new Error('away') })
      guildhall.on_rpc('later', async () => {
        await null
        throw new Error('later')
      })
      guildhall.on_rpc('thrown', () => { throw { code: 'no', gold: 5n } })
      guildhall.on_rpc('encode', () => guildhall.json.encode({ a: [{ b: undefined }] }))
      guildhall.on_rpc('promise', () => ({ a: [Promise.resolve()] }))
      guildhall.on_rpc('function', () => ({ a: [() => {}] }))
      guildhall.on_rpc('map', () => { throw new Map() })
      guildhall.on_rpc('large', () => { throw { all: Array(1000).fill(0) } })
    `)
    expect(await rpc('sync')).toBe('invalid_argument')
    expect(await rpc('wait')).toBe('forbidden')
    expect(await rpc('list')).toBe('0')
    expect(await rpc('fail')).toEqual({ error: 'no gold' })
    expect(await rpc('error')).toEqual({ error: 'RPC handler error' })
    expect(await rpc('later')).toEqual({ error: 'RPC handler error' })
    expect(await rpc('thrown')).toEqual({ error: 'RPC handler error' })
    expect(await rpc('encode')).toEqual({ error: 'RPC handler error' })
    expect(await rpc('promise')).toEqual({ error: 'RPC handler error' })
    expect(await rpc('function')).toEqual({ error: 'RPC handler error' })
    expect(await rpc('map')).toEqual({ error: 'RPC handler error' })
    expect(await rpc('large')).toEqual({ error: 'RPC handler error' })
    const shown = lines('warn').map(({ fields }) => [fields?.at, fields?.reason])
    expect(shown).toEqual([
      ['main.mjs:6', 'Error: away'],
      ['main.mjs:9', 'Error: later'],
      [undefined, 'thrown: {"code":"no","gold":"5"}'],
      ['main.mjs:12', 'GuildhallError: json.encode: value.a[0].b is undefined, which is no JSON'],
      [undefined, 'the reply: a[0] is [object Promise], which is no JSON'],
      [undefined, 'the reply: a[0] is a function, which is no JSON'],
      [undefined, 'thrown: [object Map]'],
      [undefined, 'thrown: [object Object]'],
    ])
  })

  it.each([
    ['does not parse', { 'main.ts': '\nconst = 1' }, /^main.ts:2: /],
    ['throws', { 'main.ts': '\nthrow new Error("at the top")' }, /^main.ts:2: Error: at the top/],
    ['imports a module of Node', { 'main.mjs': "import 'node:fs'" }, /there is no module node:fs/],
    ['imports what is not there', { 'main.mjs': "import './a.ts'" }, /there is no file .\/a.ts/],
    ['leaves its folder', { 'main.mjs': "import '../a.ts'" }, /lies outside/],
    ['waits', { 'main.mjs': 'await guildhall.session_list()' }, /session_list.*on_start/],
  ])('[S-SEL-3] [S-TIER-2] refuses the start when it %s', async (_what, files, message) => {
    const { host } = openHarness({ files, config: sandboxed })
    await expect(host.start()).rejects.toThrow(message)
  })
})

/** Each is a handler's body; the handler before it has been interrupted, in the same state. */
const endless: Case[] = [
  ['loops', 'for (;;) {}'],
  ['loops in finally', 'try { for (;;) {} } finally { for (;;) {} }'],
  ['loops in catch', 'for (;;) try { for (;;) {} } catch {}'],
  ['loops in a generator', 'for (const x of (function* () { for (;;) yield 1 })()) {}'],
  ['loops behind a wait', 'await guildhall.session_list(); for (;;) {}'],
  ['loops in then', 'await Promise.resolve().then(() => { for (;;) {} })'],
  ['makes jobs without end', 'for (;;) await null'],
  ['loops in a getter', 'return { get x() { for (;;) {} } }'],
  ['loops in toJSON', 'return { toJSON() { for (;;) {} } }'],
  ['loops in what it throws', 'throw { toString() { for (;;) {} } }'],
  ['loops in sort', '[3, 1, 2].sort(() => { for (;;) {} })'],
  ['loops in a regular expression', '/(a+)+$/.test("a".repeat(40) + "b")'],
  ['loops in a proxy', 'return new Proxy({}, { ownKeys() { for (;;) {} } })'],
]

describe('a slice of the sandbox that is past its deadline', () => {
  it('[S-LIM-1] is interrupted whatever it does, and the state lives on', async () => {
    const { rpc, host } = await start(counted(endless, 'async ()'), { deadline_ms: 100 })
    for (const [at, [what]] of endless.entries()) {
      expect(await rpc(what), what).toEqual({ error: 'RPC handler timed out' })
      expect(await rpc('count'), what).toBe(String(at + 1))
    }
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })

  it('[S-LIM-2] costs the worker where one built-in never ends', async () => {
    const { rpc, host, until } = await start(
      `
      guildhall.on_rpc('round', () => [].indexOf.call({ length: 2 ** 53 - 1 }, 1))
      guildhall.on_rpc('ping', () => 'pong')
    `,
      { deadline_ms: 100 },
    )
    expect(await rpc('round')).toEqual({ error: 'RPC handler timed out' })
    await until(() => host.readiness().state === 'ready')
    expect(await rpc('ping')).toBe('pong')
  })
})

const greedy: Case[] = [
  ['strings', 'let s = "x"; for (;;) s += s + "y"'],
  ['arrays', 'const t = []; for (;;) t.push([t.length])'],
  ['buffers', 'const t = []; for (;;) t.push(new Uint8Array(1e6))'],
  ['recursion', 'const f = (n) => 1 + f(n + 1); f(1)'],
  ['maps', 'const m = new Map(); for (let n = 0; ; n += 1) m.set(n, {})'],
]

it('[S-TIER-5] the memory of the sandbox is bounded, whatever fills it', async () => {
  const { rpc, host } = await start(counted(greedy, '()'), { deadline_ms: 5000, memory_mb: 16 })
  for (const [at, [what]] of greedy.entries()) {
    expect(await rpc(what), what).toEqual({ error: 'RPC handler error' })
    expect(await rpc('count'), what).toBe(String(at + 1))
  }
  expect(host.metrics().script_worker_restarts_total).toBe(0)
})

const unknown = (name: string) => `ReferenceError: ${name} is not defined`
const noModule = (name: string) =>
  `Error: there is no module ${name}: sandboxed scripts import their own files only`

/** Each tries to get out of the sandbox; it returns something true if it could. */
const probes: [what: string, code: string, refusal: string][] = [
  ['process', 'return process.env', unknown('process')],
  ['require', 'return require("node:fs")', unknown('require')],
  ['a module of Node', 'return await import("node:fs")', noModule('node:fs')],
  ['a file by import', 'return await import("/etc/passwd")', noModule('/etc/passwd')],
  ['a file by URL', 'return await import("file:///etc/passwd")', noModule('file:///etc/passwd')],
  ['std of QuickJS', 'return await import("std")', noModule('std')],
  ['os of QuickJS', 'return await import("os")', noModule('os')],
  [
    'globals of QuickJS',
    'return typeof std !== "undefined" || typeof os !== "undefined" || typeof bjson !== "undefined"',
    'nothing',
  ],
  ['fetch', 'return fetch', unknown('fetch')],
  ['WebSocket', 'return WebSocket', unknown('WebSocket')],
  ['timers', 'return setTimeout', unknown('setTimeout')],
  ['performance', 'return performance.now()', unknown('performance')],
  ['SharedArrayBuffer', 'return new SharedArrayBuffer(1)', unknown('SharedArrayBuffer')],
  ['Atomics', 'return Atomics', unknown('Atomics')],
  ['WebAssembly', 'return WebAssembly', unknown('WebAssembly')],
  ['Intl', 'return Intl', unknown('Intl')],
  ['FinalizationRegistry', 'return FinalizationRegistry', unknown('FinalizationRegistry')],
  ['Worker', 'return Worker', unknown('Worker')],
  ['the host’s function', 'return guildhallHost', unknown('guildhallHost')],
  [
    'the host through a constructor',
    'return guildhall.send.constructor("return process")()',
    unknown('process'),
  ],
  [
    'the host through an error',
    'try { guildhall.send() } catch (e) { return e.constructor.constructor("return process")() }',
    unknown('process'),
  ],
  [
    'the host through a promise',
    'return guildhall.session_list().constructor.constructor("return process")()',
    unknown('process'),
  ],
  ['the host through this', 'return (function () { return this?.process })()', 'nothing'],
  ['the host through eval', 'return (0, eval)("process")', unknown('process')],
  ['the host through Function', 'return Function("return this.process")()', 'nothing'],
  [
    'the host through the prototype of ctx',
    `if (Object.getPrototypeOf(ctx) !== Object.prototype) return true
    return ctx.__proto__.constructor.constructor("return process")()`,
    unknown('process'),
  ],
  [
    'the host through the prototype of a body',
    `if (Object.getPrototypeOf(body) !== Uint8Array.prototype) return true
    return body.__proto__.__proto__.constructor.constructor("return process")()`,
    unknown('process'),
  ],
  [
    'memory beside a body',
    `if (body.buffer.byteLength !== body.length) return true
    return body.buffer.constructor.constructor("return process")()`,
    unknown('process'),
  ],
  [
    'the host through the prototype of a function',
    `if (Object.getPrototypeOf(guildhall.after) !== Function.prototype) return true
    return guildhall.__proto__.constructor.constructor("return process")()`,
    unknown('process'),
  ],
  [
    'the host through what calls a callback',
    `const given = await new Promise((done) => {
      guildhall.after(1, function () { done([this, ...arguments]) })
    })
    return given.some((each) => each !== undefined)`,
    'nothing',
  ],
  [
    'the host through the arguments of a callback',
    `const { value } = Object.getOwnPropertyDescriptor(guildhall, "json")
    return value.encode({ toJSON(...given) {
      if (given.some((each) => Object(each) === each)) throw new Error("an object of the host")
      return given.constructor.constructor("return process")()
    } })`,
    unknown('process'),
  ],
  [
    'functions of the host through a stack',
    `Error.prepareStackTrace = (_, calls) => calls
    return typeof new Error().stack !== "string"`,
    'nothing',
  ],
  [
    'maps of the host through a changed method',
    `let taken = false
    const { get } = Map.prototype
    Map.prototype.get = function (key) { taken = true; return get.call(this, key) }
    await guildhall.session_list()
    Map.prototype.get = get
    return taken`,
    'nothing',
  ],
  ['changing guildhall', 'guildhall.send = null; return true', "TypeError: 'send' is read-only"],
  [
    'changing a family',
    'guildhall.json.encode = null; return true',
    "TypeError: 'encode' is read-only",
  ],
  ['debugging', 'return Deno ?? Bun', unknown('Deno')],
]

it('[S-TIER-2] [S-TIER-3] [S-TIER-6] [S-TIER-9] the sandbox has no way out, and the worker lives on', async () => {
  const handlers = probes.map(
    ([, code], at) => `guildhall.on_rpc('${at}', async (ctx, body) => {
      try { return await (async () => { ${code} })() ? 'reached' : 'nothing' }
      catch (error) { return error.name + ': ' + error.message }
    })`,
  )
  const { rpc, host } = await start(handlers.join('\n'))
  const seen: unknown[] = []
  for (const [at, [what]] of probes.entries()) seen.push([what, await rpc(String(at), 'body')])
  expect(seen).toEqual(probes.map(([what, , refusal]) => [what, refusal]))
  expect(host.metrics().script_worker_restarts_total).toBe(0)
})

it('[S-TIER-9] has what its rule lists', async () => {
  const { rpc } = await start(`
    guildhall.on_rpc('x', () => [
      new TextDecoder().decode(new TextEncoder().encode('hä\u{1F600}')),
      structuredClone({ a: [1, new Map([[1, 2]])] }).a[1].get(1),
      typeof console.log, typeof queueMicrotask,
    ])
  `)
  expect(JSON.parse(String(await rpc('x')))).toEqual(['hä\u{1F600}', 2, 'function', 'function'])
})

import { describe, expect, it } from 'vitest'
import { openHarness, startHarness } from '../../../host.fixture.ts'

/** A handler of each by its name, and one that says how often they have begun. */
const counted = (handlers: readonly (readonly [what: string, code: string])[]) => `
  local count = 0
  guildhall.on_rpc("count", function() return count end)
  ${handlers
    .map(([what, code]) => `guildhall.on_rpc("${what}", function() count = count + 1 ${code} end)`)
    .join('\n')}
`

const start = (main: string, more: { [path: string]: string } = {}, config = {}) =>
  startHarness({ files: { 'main.lua': main, ...more }, config })

describe('a script of Lua', () => {
  it('[S-LANG-4] [S-HK-1] answers RPCs and relays messages', async () => {
    const { rpc, message, delivered } = await start(`
      guildhall.on_rpc("who", function(ctx, body)
        return { sender = ctx.sender, user_id = ctx.user_id, room = ctx.room_id, said = body }
      end)
      guildhall.on_message(100, function(ctx, body)
        guildhall.broadcast(100, guildhall.pack_u64(ctx.sender) .. body, false)
      end)
    `)
    expect(JSON.parse(String(await rpc('who', 'hey')))).toEqual({
      sender: 1,
      user_id: 'user-1',
      said: 'hey',
    })
    await message(100, 'x')
    expect(delivered).toMatchObject([{ kind: 100, bytes: [0, 0, 0, 0, 0, 0, 0, 1, 120] }])
  })

  it('[S-LANG-1] takes no table for JSON that is neither a list nor an object', async () => {
    const { rpc, host } = await start(`
      local round = {}
      round.self = round
      local far = { {} }
      far[1][1] = far
      local tables = {
        mixed = { 1, 2, x = 3 }, holes = { [1] = 1, [3] = 3 }, from_zero = { [0] = 1, 2 },
        boolean = { [true] = 1 }, fraction = { [1.5] = 1 }, round = round, far = far,
        inside = { list = { 1, nil, 3 } }, fn = { function() end },
        thread = { coroutine.create(print) },
      }
      guildhall.on_rpc("encode", function()
        local codes = {}
        for name, value in pairs(tables) do
          local ok, problem = pcall(guildhall.json.encode, value)
          codes[name] = ok and "taken" or problem.code
        end
        return codes
      end)
      guildhall.on_rpc("reply", function(ctx, name) return tables[name] end)
      guildhall.on_rpc("said", function()
        return select(2, pcall(guildhall.json.encode, { a = { "\\xff" } })).message
      end)
    `)
    expect(await rpc('said')).toBe('json.encode: value.a[0] is not UTF-8')
    const names = ['mixed', 'holes', 'from_zero', 'boolean', 'fraction', 'round', 'far']
    const all = [...names, 'inside', 'fn', 'thread']
    expect(JSON.parse(String(await rpc('encode')))).toEqual(
      Object.fromEntries(all.map((name) => [name, 'invalid_argument'])),
    )
    for (const name of all) {
      expect(await rpc('reply', name), name).toEqual({ error: 'RPC handler error' })
    }
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })

  it('[S-API-1] names the argument that is a table of names and should be a list', async () => {
    const { rpc } = await start(`
      guildhall.on_rpc("say", function()
        local options = { except = { ana = true } }
        return select(2, pcall(guildhall.broadcast, 100, "", false, options)).message
      end)
    `)
    expect(String(await rpc('say'))).toMatch(/^broadcast: except must be an array/)
  })

  it('[S-INV-1] [S-API-1] waits in a coroutine, also inside of its own, and sees refusals', async () => {
    const { rpc } = await start(`
      guildhall.on_rpc("plain", function() return #guildhall.session_list() end)
      guildhall.on_rpc("inside", function()
        local produce = coroutine.wrap(function()
          coroutine.yield(#guildhall.session_list())
          coroutine.yield("then")
        end)
        return { produce(), produce() }
      end)
      guildhall.on_rpc("refused", function()
        local ok, problem = pcall(guildhall.send, "x", 100, "")
        return { ok = ok, code = problem.code, text = tostring(problem) }
      end)
      guildhall.on_rpc("across", function()
        local ok, problem = pcall(string.gsub, "a", "a", function() guildhall.session_list() end)
        return problem.code
      end)
    `)
    expect(await rpc('plain')).toBe('0')
    expect(await rpc('inside')).toBe('[0,"then"]')
    expect(JSON.parse(String(await rpc('refused')))).toMatchObject({
      ok: false,
      code: 'invalid_argument',
    })
    expect(await rpc('across')).toBe('unavailable')
  })

  it('[S-REC-1] [S-SEE-2] names file and line of the author’s code', async () => {
    const { rpc, lines } = await start(
      `
      local deep = require("lib.deep")
      guildhall.on_rpc("text", function() deep.fail("no gold") end)
      guildhall.on_rpc("table", function() error({ message = "a table" }) end)
      guildhall.on_rpc("host", function()
        local list = guildhall.session_list()
        guildhall.send("x", 100, "")
      end)
      guildhall.on_rpc("fail", function() guildhall.fail("not enough gold") end)
    `,
      { 'lib/deep.lua': 'local M = {}\nfunction M.fail(text)\n  error(text)\nend\nreturn M' },
    )
    for (const method of ['text', 'table', 'host']) {
      expect(await rpc(method)).toEqual({ error: 'RPC handler error' })
    }
    expect(await rpc('fail')).toEqual({ error: 'not enough gold' })
    const shown = lines('warn').map(({ fields }) => [fields?.at, fields?.reason])
    expect(shown).toMatchObject([
      ['lib/deep.lua:3', 'no gold'],
      ['main.lua:4', 'a table'],
      ['main.lua:7', expect.stringContaining('session must be')],
    ])
  })

  it.each([
    ['does not parse', { 'main.lua': 'local x = 1\nlocal = 2' }, /^main.lua:2: <name> expected/],
    ['throws', { 'main.lua': '\nerror("at the top")' }, /^main.lua:2: at the top/],
    [
      'requires what is not there',
      { 'main.lua': 'require("a.b")' },
      /main.lua:1: require: there is/,
    ],
    [
      'requires in a circle',
      { 'main.lua': 'require("a")', 'a.lua': 'require("main2")', 'main2.lua': 'require("a")' },
      /main2.lua:1: require: a is being loaded/,
    ],
    ['waits', { 'main.lua': '\nguildhall.session_list()' }, /session_list.*on_start/],
    ['registers nothing', { 'main.lua': '' }, /registers no handler/],
  ])('[S-SEL-3] [S-HK-12] refuses the start when it %s', async (_what, files, message) => {
    const { host } = openHarness({ files })
    await expect(host.start()).rejects.toThrow(message)
  })

  it('[S-SEL-7] takes a byte order mark, Latin-1, JSON and modules of folders', async () => {
    const { rpc } = await startHarness({
      files: {
        'main.lua':
          '\ufeffguildhall.on_rpc("x", function() return { require("lib"), require("data.items")[1], #require("latin") } end)',
        'lib/init.lua': 'return "folder"',
        'data/items.json': '["sword"]',
        'latin.lua': Buffer.from('return "\xe4"', 'latin1'),
      },
    })
    expect(await rpc('x')).toBe('["folder","sword",1]')
  })
})

/** Each is a handler's body; the handler before it has been interrupted, in the same state. */
const endless: [what: string, code: string][] = [
  ['loops', 'while true do end'],
  ['loops in pcall', 'while true do pcall(function() while true do end end) end'],
  ['loops in pcall of pcall', 'while true do pcall(pcall, pcall, error) end'],
  ['loops in a handler of xpcall', 'xpcall(error, function() while true do end end)'],
  [
    'loops in a handler of xpcall when it is interrupted',
    'xpcall(function() while true do end end, function() while true do end end)',
  ],
  ['loops in a coroutine', 'coroutine.wrap(function() while true do end end)()'],
  [
    'loops in coroutines that it catches',
    'while true do pcall(coroutine.wrap(function() while true do end end)) end',
  ],
  [
    'loops in what a coroutine closes',
    `coroutine.wrap(function()
        local x <close> = setmetatable({}, { __close = function() while true do end end })
        while true do end
      end)()`,
  ],
  [
    'closes an interrupted coroutine',
    `local co = coroutine.create(function()
        local x <close> = setmetatable({}, { __close = function() while true do end end })
        while true do end
      end)
      pcall(coroutine.resume, co)
      pcall(coroutine.close, co)`,
  ],
  [
    'loops in what it closes',
    `local x <close> = setmetatable({}, { __close = function() while true do end end })
      error("x")`,
  ],
  [
    'loops in a metamethod',
    'return setmetatable({}, { __index = function() while true do end end }).x',
  ],
  ['loops in sort', 'table.sort({ 3, 1, 2 }, function() while true do end end)'],
  ['loops in gsub', 'string.gsub("a", "a", function() while true do end end)'],
  ['loops in load', 'load(function() while true do end end)'],
  ['loops behind a wait', 'guildhall.session_list() while true do end'],
  [
    'loops in pcall behind a wait',
    'guildhall.session_list() while true do pcall(function() while true do end end) end',
  ],
  [
    'reads on and on',
    'local t = {} for i = 1, 300000 do t[i] = i end while true do guildhall.json.encode(t) end',
  ],
]

describe('a slice of Lua that is past its deadline', () => {
  it('[S-LIM-1] [S-INV-4] is interrupted whatever it does, and the state lives on', async () => {
    const { rpc, host } = await start(counted(endless), {}, { deadline_ms: 50 })
    for (const [at, [what]] of endless.entries()) {
      expect(await rpc(what), what).toEqual({ error: 'RPC handler timed out' })
      expect(await rpc('count'), what).toBe(String(at + 1))
    }
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })

  it('[S-LIM-2] ends the worker where one built-in never ends', async () => {
    const { rpc, host, until } = await start(
      `
      guildhall.on_rpc("round", function()
        return (("a"):rep(30)):find(("a*"):rep(30) .. "b")
      end)
      guildhall.on_rpc("ping", function() return "pong" end)
    `,
      {},
      { deadline_ms: 50 },
    )
    expect(await rpc('round')).toEqual({ error: 'RPC handler timed out' })
    await until(() => host.readiness().state === 'ready')
    expect(await rpc('ping')).toBe('pong')
  })

  it('has no finalizers, which nothing could interrupt', async () => {
    const { rpc } = await start(`
      guildhall.on_rpc("x", function()
        local ok = pcall(setmetatable, {}, { __gc = function() while true do end end })
        collectgarbage()
        return ok
      end)
    `)
    expect(await rpc('x')).toBe('false')
  })
})

const greedy: [what: string, code: string][] = [
  ['strings', 'local t = {} while true do t[#t + 1] = ("x"):rep(100000) .. #t end'],
  ['one string', 'return ("x"):rep(1 << 30)'],
  ['tables', 'local t = {} while true do t = { t, {} } end'],
  ['recursion', 'local function f(n) return 1 + f(n + 1) end f(1)'],
  ['coroutines', 'local t = {} while true do t[#t + 1] = coroutine.wrap(print) end'],
  ['concatenation', 'local s = "x" while true do s = s .. s end'],
]

describe('the memory of Lua', () => {
  it('[S-TIER-5] is bounded, whatever fills it', async () => {
    const { rpc, host } = await start(counted(greedy), {}, { deadline_ms: 5000, memory_mb: 16 })
    for (const [at, [what]] of greedy.entries()) {
      expect(await rpc(what), what).toEqual({ error: 'RPC handler error' })
      expect(await rpc('count'), what).toBe(String(at + 1))
    }
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })
})

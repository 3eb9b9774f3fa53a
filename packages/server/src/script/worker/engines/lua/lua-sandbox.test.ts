import { describe, expect, it } from 'vitest'
import { startHarness } from '../../../host.fixture.ts'

/** Each tries to get out of the sandbox; it returns true, or something of worth, if it could. */
const probes: [what: string, code: string][] = [
  ['read a file with io', 'return io.open("/etc/passwd") ~= nil'],
  ['read a file with loadfile', 'return loadfile("/etc/passwd") ~= nil'],
  ['run a file', 'return dofile("/etc/passwd") ~= nil'],
  ['read a file as a module', 'return require("/etc/passwd") ~= nil'],
  ['read a file above its folder', 'return require("...secret") ~= nil'],
  ['read the host’s files', 'return require("package") ~= nil'],
  ['search other paths', 'package.path = "/?.lua" return require("etc") ~= nil'],
  ['load native code', 'return package.loadlib("/lib/x.so", "*") ~= nil'],
  ['start a process', 'return os.execute("true") ~= nil'],
  ['start a process with a pipe', 'return io.popen("true") ~= nil'],
  ['read the environment', 'return os.getenv("PATH") ~= nil'],
  ['end the process', 'os.exit(3) return true'],
  ['remove a file', 'return os.remove("/tmp/x") ~= nil'],
  ['name a temporary file', 'return os.tmpname() ~= nil'],
  ['open a socket', 'return require("socket") ~= nil'],
  ['reach the registry', 'return debug.getregistry() ~= nil'],
  ['change a hook', 'debug.sethook() return true'],
  ['change an upvalue', 'return debug.setupvalue(print, 1, nil) ~= nil'],
  ['change a metatable of the host', 'return debug.setmetatable("", {}) ~= nil'],
  ['read the environment of a function', 'return getfenv ~= nil'],
  ['reach the host’s globals', 'return js ~= nil or globalThis ~= nil or process ~= nil'],
  ['load compiled code', 'return load(string.dump(function() end), "x", "b") ~= nil'],
  ['load what looks compiled', 'return load("\\27Lua", "x", "b") ~= nil'],
  ['load code into other globals', 'return load("return io")() ~= nil'],
  ['reach other globals through _ENV', 'return _ENV.io ~= nil or _G.io ~= nil'],
  ['change guildhall', 'guildhall.send = nil return true'],
  ['change a family of guildhall', 'guildhall.json.encode = nil return true'],
  ['reach the table of guildhall', 'return type(getmetatable(guildhall)) == "table"'],
  ['change the methods of strings for the host', 'getmetatable("").__index = {} return true'],
  [
    'reach a metatable through an error of the host',
    'local _, e = pcall(guildhall.send) return type(getmetatable(e)) == "table"',
  ],
  [
    'make a false refusal',
    'local _, e = pcall(guildhall.fail, "x") return pcall(setmetatable, {}, getmetatable(e))',
  ],
  ['have a finalizer', 'setmetatable({}, { __gc = print }) return true'],
  ['stop the collector', 'collectgarbage("stop") return true'],
  ['warn on the console', 'warn("@on") return true'],
]

describe.each(['trusted', 'sandboxed'] as const)('the sandbox of Lua in the %s tier', (tier) => {
  it('[S-TIER-2] [S-TIER-3] [S-TIER-6] [S-TIER-7] has no way out, and the worker lives on', async () => {
    const handlers = probes.map(
      ([, code], at) => `guildhall.on_rpc("${at}", function()
        local ok, found = pcall(function() ${code} end)
        return ok and found
      end)`,
    )
    const { rpc, host } = await startHarness({
      files: { 'main.lua': handlers.join('\n') },
      config: { tier },
    })
    const found: unknown[] = []
    for (const [at, [what]] of probes.entries()) {
      if ((await rpc(String(at))) !== 'false') found.push([what, await rpc(String(at))])
    }
    expect(found).toEqual([])
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })

  it('[S-TIER-2] has its tier’s functions', async () => {
    const { rpc } = await startHarness({
      files: {
        'main.lua': `guildhall.on_rpc("x", function()
          local ok, problem = pcall(guildhall.wallet.get, "someone")
          return { tier = guildhall.tier, code = problem.code }
        end)`,
      },
      config: { tier },
    })
    const code = tier === 'trusted' ? 'unavailable' : 'forbidden'
    expect(JSON.parse(String(await rpc('x')))).toEqual({ tier, code })
  })
})

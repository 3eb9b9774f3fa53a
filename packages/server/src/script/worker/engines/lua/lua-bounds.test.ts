import { describe, expect, it } from 'vitest'
import { player, startHarness } from '../../../host.fixture.ts'

const functions = { sleep: () => new Promise((resolve) => setTimeout(resolve, 60)) }
const start = (main: string, config = {}) =>
  startHarness({ files: { 'main.lua': main }, config, functions })

describe('coroutines of Lua', () => {
  it('[S-INV-1] [S-INV-3] resumes and closes only what the script has made', async () => {
    const { rpc } = await start(`
      local saved
      guildhall.on_rpc("wait", function()
        saved = coroutine.running()
        guildhall.sleep(60)
        return "mine"
      end)
      guildhall.on_rpc("other", function()
        local resumed, why = coroutine.resume(saved)
        local closed = pcall(coroutine.close, saved)
        return { resumed, why, closed, coroutine.status(saved) }
      end)
    `)
    const waits = rpc('wait')
    const refused = '[false,"cannot resume non-suspended coroutine",false,"normal"]'
    expect(await rpc('other')).toBe(refused)
    expect(await waits).toBe('mine')
  })

  it('[S-INV-1] [S-INV-3] one that waits for a handler is resumed by no other', async () => {
    const { rpc } = await start(`
      local shared = coroutine.wrap(function()
        guildhall.sleep(60)
        coroutine.yield("first")
        return "second"
      end)
      guildhall.on_rpc("wait", function() return shared() end)
      guildhall.on_rpc("other", function() return select(2, pcall(shared)) end)
    `)
    const waits = rpc('wait')
    expect(await rpc('other')).toBe('cannot resume non-suspended coroutine')
    expect(await waits).toBe('first')
    expect(await rpc('other')).toBe('second')
  })

  it('[S-INV-1] a wait inside of sort is an error, and no yield is taken for it', async () => {
    const { rpc, host } = await start(`
      local said
      local function wait_in_sort()
        table.sort({ 1, 2 }, coroutine.wrap(function()
          said = select(2, pcall(guildhall.wallet.get, "nobody"))
          return false
        end))
      end
      guildhall.on_rpc("said", function()
        local ok, why = pcall(wait_in_sort)
        return ok and said.code or why
      end)
      guildhall.on_rpc("yields", function()
        pcall(wait_in_sort)
        coroutine.yield()
        return "taken"
      end)
    `)
    expect(await rpc('said')).toBe('unavailable')
    expect(await rpc('yields')).toEqual({ error: 'RPC handler error' })
    expect(await rpc('said')).toBe('unavailable')
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })
})

describe('guildhall.fail in Lua', () => {
  it('[S-API-1] [S-SEE-2] is known by itself and not by its text', async () => {
    const { rpc, host } = await start(`
      local function failed(text, options)
        return select(2, pcall(guildhall.fail, text, options))
      end
      guildhall.on_rpc("same", function()
        local one = failed("no", { code = "one" })
        failed("no", { code = "two" })
        error(one)
      end)
      guildhall.on_rpc("many", function()
        local kept = failed("kept")
        for n = 1, 200 do failed("other " .. n) end
        collectgarbage()
        error(kept)
      end)
      guildhall.on_rpc("changed", function()
        local kept = failed("kept")
        kept.message = "changed"
        error(kept)
      end)
    `)
    const same = await host.game.rpc(player(1), 'same', new Uint8Array())
    expect(same).toMatchObject({ error: 'no', more: { code: 'one' } })
    expect(await rpc('many')).toEqual({ error: 'kept' })
    expect(await rpc('changed')).toEqual({ error: 'kept' })
  })
})

describe('numbers of JSON in Lua', () => {
  it('[S-LANG-1] are integers or floats as they are written', async () => {
    const { rpc } = await start(`
      guildhall.on_rpc("number", function(ctx, body)
        local value = guildhall.json.decode(body)[1]
        return math.type(value) .. " " .. tostring(value)
      end)
    `)
    const numbers = [
      ['1e18', 'integer 1000000000000000000'],
      ['-0', 'integer 0'],
      ['9007199254740993', 'integer 9007199254740993'],
      ['-9223372036854775808', 'integer -9223372036854775808'],
      ['1e19', 'float 1e+19'],
      ['1.5', 'float 1.5'],
    ]
    for (const [json, shown] of numbers) expect(await rpc('number', `[${json}]`)).toBe(shown)
  })
})

describe('built-ins of Lua that never end', () => {
  it('[S-LIM-1] are interrupted, and the state lives on', async () => {
    const { rpc, host } = await start(
      `
      local count = 0
      guildhall.on_rpc("move", function()
        count = count + 1
        table.move({}, 1, math.maxinteger - 1, 2)
      end)
      guildhall.on_rpc("move_backwards", function()
        count = count + 1
        local t = {}
        table.move(t, 1, math.maxinteger - 1, 2, t)
      end)
      guildhall.on_rpc("count", function() return count end)
    `,
      { deadline_ms: 50 },
    )
    expect(await rpc('move')).toEqual({ error: 'RPC handler timed out' })
    expect(await rpc('move_backwards')).toEqual({ error: 'RPC handler timed out' })
    expect(await rpc('count')).toBe('2')
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })

  it('[S-LANG-2] table.move and string.rep do what those of Lua do', async () => {
    const { rpc, host } = await start(
      `
      local size = 40000
      local function numbers()
        local t = {}
        for n = 1, size do t[n] = n end
        return t
      end
      local function is_moved(t, from, to, count)
        for n = 0, count - 1 do
          if t[to + n] ~= from + n then return false end
        end
        return true
      end
      guildhall.on_rpc("move", function()
        local up = table.move(numbers(), 1, size, 2)
        local down = table.move(numbers(), 2, size, 1)
        local other = table.move(numbers(), 1, size, 3, {})
        local none = table.move(numbers(), 2, 1, 5)
        return {
          is_moved(up, 1, 2, size), is_moved(down, 2, 1, size - 1), is_moved(other, 1, 3, size),
          #none == size, (pcall(table.move, {}, -1, math.maxinteger, 2)),
          (pcall(table.move, {}, 1, math.maxinteger, 2)),
        }
      end)
      guildhall.on_rpc("rep", function()
        return { (""):rep(math.maxinteger), (""):rep(math.maxinteger, ""), ("a"):rep(3, ","),
          ("a"):rep(0), (""):rep(3, ","), string.rep(1, 2) }
      end)
    `,
      { deadline_ms: 2000 },
    )
    expect(await rpc('move')).toBe('[true,true,true,true,false,false]')
    expect(await rpc('rep')).toBe('["","","a,a,a","",",,","11"]')
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })
})

describe('what leaves Lua', () => {
  it('[S-TIER-5] is refused before it is copied when it is too large', async () => {
    const { rpc, host } = await start(
      `
      local count = 0
      guildhall.on_rpc("encode", function()
        count = count + 1
        local text, many = ("x"):rep(7 << 20), {}
        for n = 1, 200 do many[n] = text end
        local ok, problem = pcall(guildhall.json.encode, many)
        return ok or problem.code
      end)
      guildhall.on_rpc("reply", function()
        local text, many = ("x"):rep(7 << 20), {}
        for n = 1, 200 do many[n] = text end
        return many
      end)
      guildhall.on_rpc("count", function() return count end)
    `,
      { deadline_ms: 5000, memory_mb: 32 },
    )
    expect(await rpc('encode')).toBe('invalid_argument')
    expect(await rpc('reply')).toEqual({ error: 'RPC handler error' })
    expect(await rpc('count')).toBe('1')
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })

  it('[S-TIER-5] values that find no memory are errors, and the worker lives on', async () => {
    const { rpc, host } = await start(
      `
      guildhall.on_rpc("fill", function(ctx, body)
        local text = '"' .. ("x"):rep(1 << 20) .. '"'
        local kept = {}
        while pcall(function() kept[#kept + 1] = guildhall.json.decode(text) end) do end
        for n = 1, 20 do pcall(guildhall.json.decode, text) end
        kept = nil
        collectgarbage()
        return #guildhall.json.decode(text)
      end)
    `,
      { deadline_ms: 5000, memory_mb: 16 },
    )
    expect(await rpc('fill')).toBe('1048576')
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })
})

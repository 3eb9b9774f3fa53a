/** The runner of each language: a script that interprets scenarios; at most 100 lines each. */
export type ConformanceRunner = {
  readonly language: string
  readonly file: string
  readonly tier: 'trusted' | 'sandboxed'
  readonly source: string
}

const javascript = `
const at = (name) => name.split('.').reduce((part, step) => part[step], guildhall)
const hex = (text) => Uint8Array.from(text.match(/../g), (byte) => parseInt(byte, 16))
const deep = (levels) => (levels === 0 ? 0 : [deep(levels - 1)])
const cycle = (list = []) => (list.push(list), list)
const floats = { nan: NaN, inf: Infinity }

function build(value, last) {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => build(item, last))
  if (value.$nil) return undefined
  if (value.$null) return null
  if (value.$last) return last
  if (value.$int) return BigInt(value.$int)
  if (value.$float) return floats[value.$float] ?? Number(value.$float)
  if (value.$bytes) return hex(value.$bytes)
  if (value.$list) return []
  if (value.$surrogate) return 'x\\ud800'
  if (value.$fn) return () => {}
  if (value.$deep) return deep(value.$deep)
  if (value.$cycle) return cycle()
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, build(item, last)]))
}

function shown(value) {
  if (value === undefined || value === null) return 'nil'
  if (typeof value === 'string') return 'text ' + value
  if (value instanceof Uint8Array) return 'text ' + new TextDecoder().decode(value)
  return new TextDecoder().decode(guildhall.json.encode(value))
}

guildhall.on_rpc('run', async (ctx, body) => {
  const said = []
  let last
  for (const [call, args] of guildhall.json.decode(body)) {
    try {
      last = await at(call)(...args.map((value) => build(value, last)))
      said.push(shown(last))
    } catch (error) {
      said.push('error ' + (error.code ?? error.message))
    }
  }
  return said
})
`

const lua = `
local json = guildhall.json
local floats = { nan = 0 / 0, inf = 1 / 0 }

local function at(name)
  local part = guildhall
  for step in name:gmatch("[^.]+") do part = part[step] end
  return part
end

local function deep(levels)
  if levels == 0 then return 0 end
  return { deep(levels - 1) }
end

local function build(value, last)
  if type(value) ~= "table" then return value end
  if value["$nil"] or value["$null"] then return nil end
  if value["$last"] then return last end
  if value["$int"] then return math.tointeger(value["$int"]) end
  if value["$float"] then return floats[value["$float"]] or tonumber(value["$float"]) end
  if value["$bytes"] then
    return (value["$bytes"]:gsub("..", function(byte) return string.char(tonumber(byte, 16)) end))
  end
  if value["$list"] then return json.array({}) end
  if value["$surrogate"] then return "x\\xed\\xa0\\x80" end
  if value["$fn"] then return function() end end
  if value["$deep"] then return deep(value["$deep"]) end
  if value["$cycle"] then local list = {}; list[1] = list; return list end
  local built = getmetatable(value) == "array" and json.array({}) or {}
  for name, item in pairs(value) do built[name] = build(item, last) end
  return built
end

local function shown(value)
  if value == nil or value == json.null then return "nil" end
  if type(value) == "string" then return "text " .. value end
  return json.encode(value)
end

guildhall.on_rpc("run", function(ctx, body)
  local said = json.array({})
  local last
  for n, step in ipairs(json.decode(body)) do
    local args = { n = #step[2] }
    for k = 1, args.n do args[k] = build(step[2][k], last) end
    local ok, value = pcall(at(step[1]), table.unpack(args, 1, args.n))
    if ok then
      last = value
      said[n] = shown(value)
    else
      said[n] = "error " .. (type(value) == "table" and value.code or tostring(value))
    end
  end
  return said
end)
`

const python = `
import guildhall, inspect, math
from guildhall import json

def at(name):
    part = guildhall
    for step in name.split("."): part = getattr(part, step)
    return part

def deep(levels):
    return 0 if levels == 0 else [deep(levels - 1)]

def cycle():
    found = []
    found.append(found)
    return found

def build(value, last):
    if isinstance(value, list): return [build(item, last) for item in value]
    if not isinstance(value, dict): return value
    for name, make in special.items():
        if name in value: return make(value[name], last)
    return {name: build(item, last) for name, item in value.items()}

special = {
    "$nil": lambda value, last: ...,
    "$null": lambda value, last: None,
    "$last": lambda value, last: last,
    "$int": lambda value, last: int(value),
    "$float": lambda value, last: float(value),
    "$bytes": lambda value, last: bytes.fromhex(value),
    "$list": lambda value, last: [],
    "$surrogate": lambda value, last: "x\\ud800",
    "$fn": lambda value, last: lambda: None,
    "$deep": lambda value, last: deep(value),
    "$cycle": lambda value, last: cycle(),
}

def shown(value):
    if value is None: return "nil"
    if isinstance(value, str): return "text " + value
    if isinstance(value, bytes): return "text " + value.decode(errors="replace")
    return json.encode(value).decode()

@guildhall.on_rpc("run")
async def run(ctx, body):
    said = []
    last = None
    for call, args in json.decode(body):
        try:
            value = at(call)(*(build(arg, last) for arg in args))
            last = await value if inspect.isawaitable(value) else value
            said.append(shown(last))
        except Exception as error:
            said.append(f"error {getattr(error, 'code', error)}")
    return said
`

export const runners: readonly ConformanceRunner[] = [
  { language: 'TypeScript', file: 'main.ts', tier: 'trusted', source: javascript },
  { language: 'sandboxed JavaScript', file: 'main.js', tier: 'sandboxed', source: javascript },
  { language: 'Lua', file: 'main.lua', tier: 'trusted', source: lua },
  { language: 'Python', file: 'main.py', tier: 'trusted', source: python },
  { language: 'sandboxed Lua', file: 'main.lua', tier: 'sandboxed', source: lua },
  { language: 'sandboxed Python', file: 'main.py', tier: 'sandboxed', source: python },
]

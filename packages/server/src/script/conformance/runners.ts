/**
 * The runner of each language: a script that interprets scenarios; at most 100 lines each. What it
 * calls are functions of `guildhall`, and of its own those that fail or never end. A line that an
 * error is to name is marked by a comment.
 */
export type ConformanceRunner = {
  readonly language: string
  readonly file: string
  readonly tier: 'trusted' | 'sandboxed'
  readonly source: string
}

const javascript = `
const large = '["' + 'x'.repeat(200_000) + '"]'
const numbers = Array.from({ length: 2_000 }, (_, n) => -n)
let count = 0
let began = 0
let ended = 0
const own = {
  count: () => ++count,
  ran: () => ended - began,
  throw(text) {
    throw new Error(text) // @throw
  },
  inside: (text) => own.throw(text),
  async later(text) {
    await guildhall.sleep(1)
    own.throw(text)
  },
  odd: () => ({ hp: [1, NaN] }),
  odd_argument: () => guildhall.json.encode(own.odd()), // @call
  loop() {
    for (began = guildhall.now_ms(); ; ) ended = guildhall.now_ms()
  },
  catch() {
    for (;;) try { own.loop() } catch {}
  },
  compare: () => numbers.toSorted(own.loop),
  decode() { for (;;) guildhall.json.decode(large) },
  sort() { for (;;) numbers.toSorted() },
  repeat_() { for (;;) 'x'.repeat(300_000).toUpperCase() },
  async loop_later() {
    await guildhall.sleep(1)
    own.loop()
  },
  wait: () => guildhall.sleep(86_400_000),
}

const rootOf = (name) => name.startsWith('own.') ? { own } : guildhall
const at = (name) => name.split('.').reduce((part, step) => part[step], rootOf(name))
const hex = (text) => Uint8Array.from(text.match(/../g), (byte) => parseInt(byte, 16))
const deep = (levels) => (levels === 0 ? 0 : [deep(levels - 1)])
const cycle = (list = []) => (list.push(list), list)
const floats = { nan: NaN, inf: Infinity }

function build(value, last) {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => build(item, last))
  if (value.$nil) return undefined
  if (value.$null) return null
  if (value.$last) return value.$last === true ? last : last[value.$last]
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

guildhall.on_rpc('call', async (ctx, body) => {
  const [call, args] = guildhall.json.decode(body)
  return await at(call)(...args) // @call
})
`

const lua = `
local json = guildhall.json
local floats = { nan = 0 / 0, inf = 1 / 0 }
local large = '["' .. ("x"):rep(200000) .. '"]'
local count, began, ended = 0, 0, 0
local own = {}

local function numbers()
  local list = {}
  for n = 1, 2000 do list[n] = -n end
  return list
end

function own.count() count = count + 1 return count end
function own.ran() return ended - began end
function own.throw(text)
  error(text) -- @throw
end
function own.inside(text) own.throw(text) end
function own.later(text) guildhall.sleep(1) own.throw(text) end
function own.odd() return { hp = { 1, 0 / 0 } } end
function own.odd_argument()
  return (json.encode(own.odd())) -- @call
end
function own.loop()
  began = guildhall.now_ms()
  while true do ended = guildhall.now_ms() end
end
function own.catch() while true do pcall(own.loop) end end
function own.compare() table.sort(numbers(), own.loop) end
function own.decode() while true do json.decode(large) end end
function own.sort() while true do table.sort(numbers()) end end
function own.repeat_() while true do ("x"):rep(300000):upper() end end
function own.loop_later() guildhall.sleep(1) own.loop() end
function own.wait() guildhall.sleep(86400000) end

local function at(name)
  local part = name:match("^own") and { own = own } or guildhall
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
  if value["$last"] then return value["$last"] == true and last or last[value["$last"]] end
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

guildhall.on_rpc("call", function(ctx, body)
  local step = json.decode(body)
  local value = at(step[1])(table.unpack(step[2])) -- @call
  return value
end)
`

const python = `
import guildhall, inspect
from guildhall import json

large = '["' + "x" * 200_000 + '"]'
count = began = ended = 0

class Own:
    def count(self):
        global count
        count += 1
        return count
    def ran(self): return ended - began
    def throw(self, text):
        raise RuntimeError(text) # @throw
    def inside(self, text): self.throw(text)
    async def later(self, text): await guildhall.sleep(1); self.throw(text)
    def odd(self): return {"hp": [1, float("nan")]}
    def odd_argument(self): return json.encode(self.odd()) # @call
    def loop(self, *_):
        global began, ended
        began = guildhall.now_ms()
        while True: ended = guildhall.now_ms()
    def catch(self):
        while True:
            try: self.loop()
            except BaseException: pass
    def compare(self): sorted(range(2_000), key=self.loop)
    def decode(self):
        while True: json.decode(large)
    def sort(self):
        while True: sorted(range(2_000), reverse=True)
    def repeat_(self):
        while True: ("x" * 300_000).upper()
    async def loop_later(self):
        await guildhall.sleep(1)
        self.loop()
    async def wait(self): await guildhall.sleep(86_400_000)

own = Own()

def at(name):
    if name.startswith("own."): return getattr(own, name[4:])
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
    "$last": lambda value, last: last if value is True else last[value],
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

@guildhall.on_rpc("call")
async def call(ctx, body):
    name, args = json.decode(body)
    value = at(name)(*args) # @call
    return await value if inspect.isawaitable(value) else value # @call
`

export const runners: readonly ConformanceRunner[] = [
  { language: 'TypeScript', file: 'main.ts', tier: 'trusted', source: javascript },
  { language: 'sandboxed JavaScript', file: 'main.js', tier: 'sandboxed', source: javascript },
  { language: 'Lua', file: 'main.lua', tier: 'trusted', source: lua },
  { language: 'Python', file: 'main.py', tier: 'trusted', source: python },
  { language: 'sandboxed Lua', file: 'main.lua', tier: 'sandboxed', source: lua },
  { language: 'sandboxed Python', file: 'main.py', tier: 'sandboxed', source: python },
]

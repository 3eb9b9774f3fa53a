/**
 * What the script's globals are, written in Lua. It runs once, before the script, with functions of
 * the host. Lua's own libraries stay except for what reaches out of the sandbox or holds a slice
 * that is past its deadline:
 *
 * - finalizers and the handlers of `xpcall` run where no instruction is counted. So there are no
 *   finalizers, and the handler of `xpcall` runs when the error has been caught;
 * - a coroutine that was interrupted would close its variables uncounted too: it is never closed;
 * - a wait inside of a coroutine of the script suspends the whole handler: the host's mark passes
 *   through every `resume` on the way out.
 */
export const sandboxSource = `
local host, guildhall, waits = ...
local error, getmetatable, ipairs, load, next, pairs, pcall, rawget, select = error, getmetatable,
  ipairs, load, next, pairs, pcall, rawget, select
local setmetatable, tonumber, tostring, type = setmetatable, tonumber, tostring, type
local create, resume, running, status, close, yield, isyieldable = coroutine.create,
  coroutine.resume, coroutine.running, coroutine.status, coroutine.close, coroutine.yield,
  coroutine.isyieldable
local concat, pack, move, rep = table.concat, table.pack, table.move, string.rep
local maxinteger, tointeger = math.maxinteger, math.tointeger

local weak = { __mode = 'k' }
-- Coroutines of the script that may be resumed: not those of the host, nor those that wait in it.
local free = setmetatable({}, weak)
local interrupted = setmetatable({}, weak)

local function go_on(co, ...)
  free[co] = true
  return resume(co, ...)
end

local function passed(co, ok, first, ...)
  if first == waits then
    free[co] = nil
    -- Nobody can wait with it inside of sort and the like.
    if isyieldable() then yield(waits) else host.refuse_wait() end
    return passed(co, go_on(co))
  end
  if not ok and host.is_overdue() then
    interrupted[co] = true
    host.check_time()
  end
  return ok, first, ...
end

local function create_free(fn)
  local co = create(fn)
  free[co] = true
  return co
end

local function status_of(co)
  local found = status(co)
  if found == 'suspended' and not free[co] then return 'normal' end
  return found
end

local function resume_passing(co, ...)
  if status_of(co) == 'normal' then return false, 'cannot resume non-suspended coroutine' end
  return passed(co, resume(co, ...))
end

local function returned(co, ok, ...)
  if ok then return ... end
  if not interrupted[co] and status(co) == 'dead' then close(co) end
  error((...), 0)
end

local function wrap(fn)
  local co = create_free(fn)
  return function(...) return returned(co, resume_passing(co, ...)) end
end

local function close_counted(co)
  host.check_time()
  if interrupted[co] then return false, 'interrupted' end
  if status_of(co) == 'normal' then error('cannot close a normal coroutine', 2) end
  return close(co)
end

local function handled(handler, ok, ...)
  if ok then return true, ... end
  return false, handler(...)
end

local function set_metatable(t, metatable)
  if type(metatable) == 'table' and rawget(metatable, '__gc') ~= nil then
    error('there are no finalizers: __gc', 2)
  end
  return setmetatable(t, metatable)
end

local collecting = { collect = true, count = true, step = true }

local lib = {
  _VERSION = _VERSION, assert = assert, error = error, getmetatable = getmetatable,
  ipairs = ipairs, next = next, pairs = pairs, pcall = pcall, rawequal = rawequal,
  rawget = rawget, rawlen = rawlen, rawset = rawset, select = select, tonumber = tonumber,
  tostring = tostring, type = type, setmetatable = set_metatable,
  math = math, table = {}, utf8 = utf8,
  os = { date = os.date, difftime = os.difftime, time = os.time },
  debug = { traceback = debug.traceback },
  coroutine = {
    create = create_free, resume = resume_passing, running = running, status = status_of,
    wrap = wrap,
    close = close_counted, yield = yield, isyieldable = isyieldable,
  },
}
lib._G = lib
lib.string = {}
for name, fn in pairs(string) do
  if name ~= 'dump' then lib.string[name] = fn end
end
for name, fn in pairs(table) do lib.table[name] = fn end
getmetatable('').__index = lib.string
getmetatable('').__metatable = false

-- What a built-in does counts as one instruction: it must not be without end.
local moved_at_once = 4096

function lib.table.move(from, first, last, at, to)
  if to == nil then to = from end
  local f, l, a = tointeger(tonumber(first)), tointeger(tonumber(last)), tointeger(tonumber(at))
  local count = f and l and a and l - f + 1 or 0
  -- Lua itself refuses what it cannot count.
  if count <= moved_at_once or a > maxinteger - count + 1 then
    return move(from, first, last, at, to)
  end
  first, last, at = f, l, a
  local upwards = at > last or at <= first or to ~= from
  local done = 0
  while done < count do
    local size = count - done < moved_at_once and count - done or moved_at_once
    local offset = upwards and done or count - done - size
    move(from, first + offset, first + offset + size - 1, at + offset, to)
    done = done + size
  end
  return to
end

function lib.string.rep(text, count, between)
  if text == '' and (between == nil or between == '') then return '' end
  return rep(text, count, between)
end

function lib.xpcall(fn, handler, ...)
  return handled(handler, pcall(fn, ...))
end

function lib.collectgarbage(option, ...)
  if option ~= nil and not collecting[option] then
    error('collectgarbage: only collect, count and step', 2)
  end
  return collectgarbage(option, ...)
end

-- Only texts: what was compiled elsewhere is not checked by Lua.
function lib.load(chunk, name, mode, ...)
  if select('#', ...) == 0 then return load(chunk, name, 't', lib) end
  return load(chunk, name, 't', (...))
end

function lib.print(...)
  local said = pack(...)
  for n = 1, said.n do said[n] = tostring(said[n]) end
  host.print(concat(said, '\\t'))
end

local function sealed(name, t)
  for key, value in pairs(t) do
    if type(value) == 'table' then t[key] = sealed(name .. '.' .. key, value) end
  end
  local function refuse() error(name .. ' cannot be changed', 2) end
  return setmetatable({}, { __index = t, __newindex = refuse, __metatable = false })
end

local array = { __metatable = 'array', __name = 'array' }

function guildhall.json.array(t)
  if t == nil then t = {} end
  if type(t) ~= 'table' then error('json.array: the argument must be a table', 2) end
  if getmetatable(t) == 'array' then return t end
  return setmetatable(t, array)
end

local function message_of(problem) return tostring(rawget(problem, 'message')) end

-- What guildhall.fail has said, by the table it raised, where no script can change it.
local signals = setmetatable({}, weak)
local failure = { __metatable = false, __name = 'guildhall.Error', __tostring = message_of }
local signal = { __metatable = false, __name = 'guildhall.fail', __tostring = message_of }

-- Rooms with state: the state stays in here, and is read when a slice has ended.
local states, faces = {}, {}

local function info_of(id) return host.room_info(id) end

local function face_of(id)
  local face = faces[id]
  if face ~= nil then return face end
  local fixed = { room_id = id }
  function fixed.broadcast(kind, body, options) host.room_broadcast(id, kind, body, options) end
  function fixed.send(to, kind, body, options) host.room_send(id, to, kind, body, options) end
  function fixed.after(ms, fn) return host.room_after(id, ms, fn) end
  local function read(_, key)
    if key == 'state' then return states[id] end
    local known = fixed[key]
    if known ~= nil then return known end
    local value = info_of(id)[key]
    if value ~= guildhall.json.null then return value end
  end
  local function write(_, key, value)
    if key == 'state' then states[id] = value
    elseif key == 'label' then host.room_relabel(id, value)
    else error('room: only state and label are set', 2) end
  end
  face = setmetatable({}, { __index = read, __newindex = write, __metatable = false })
  faces[id] = face
  return face
end

local shapes = {
  create = function(fn) return function(ctx, options) return fn(ctx, options) end end,
  restore = function(fn) return function(_, state, id) return fn(state, face_of(id)) end end,
  view = function(fn) return function(_, _, id) return fn(states[id]) end end,
  own = function(fn) return function(member, _, id) return fn(states[id], member) end end,
  ended = function(fn) return function(_, _, id) return fn(face_of(id)) end end,
}
local function usual(fn) return function(about, _, id) return fn(about, face_of(id)) end end
local function with_body(fn)
  return function(ctx, body, id) return fn(ctx, body, face_of(id)) end
end

local room_own = {
  ['@read'] = function(_, _, id) return states[id] end,
  ['@write'] = function(_, state, id) states[id] = state end,
  ['@forget'] = function(_, _, id) states[id], faces[id] = nil, nil end,
}

function guildhall.room(name, definition)
  if type(definition) ~= 'table' then error('room: the definition must be a table', 2) end
  local members = {}
  host.room_define(name)
  for key, value in pairs(definition) do
    if type(value) == 'function' then host.room_handler(key, (shapes[key] or usual)(value))
    elseif (key == 'message' or key == 'rpc') and type(value) == 'table' then
      for each, fn in pairs(value) do
        if type(fn) ~= 'function' then error('room: ' .. key .. ' holds functions', 2) end
        host.room_reply(key .. '.' .. tostring(each), with_body(fn))
      end
    else members[key] = value end
  end
  for key, fn in pairs(room_own) do host.room_handler(key, fn) end
  host.room_done(members)
end

local decode = guildhall.json.decode
lib.guildhall = sealed('guildhall', guildhall)
local loaded, loading = { guildhall = lib.guildhall }, {}

local function read(name, path)
  local text = host.text(path)
  if path:find('%.json$') then return decode(text) end
  local chunk, problem = load(text, '@' .. path, 't', lib)
  if chunk == nil then error(problem, 0) end
  return chunk(name, path)
end

function lib.require(name)
  if type(name) ~= 'string' then error('require: the name of a module is a string', 2) end
  local known = loaded[name]
  if known ~= nil then return known end
  if loading[name] then error('require: ' .. name .. ' is being loaded, in a circle', 2) end
  local path = host.find(name)
  if path == nil then error('require: there is no file for ' .. name, 2) end
  loading[name] = true
  local ok, value = pcall(read, name, path)
  loading[name] = nil
  if not ok then error(value, 0) end
  if value == nil then value = true end
  loaded[name] = value
  return value
end

return array, failure, signal, signals, function(path) read('main', path) end
`

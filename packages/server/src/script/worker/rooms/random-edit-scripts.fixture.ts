/**
 * A room whose state each message edits at random, as many times as its body says, and which then
 * says as JSON what the state is. The same in each language: arrays grow, shrink and are shuffled,
 * names of the language come and go, and now and then the state is another value.
 */
export const javascript = `
let seed = 1
const random = (below) => (seed = (seed * 48271) % 2147483647) % below
const pick = (list) => list[random(list.length)]
const names = ['a', 'b', 'c', 'length', 'toString', '__proto__', '7', '']
const scalars = [null, true, false, 0, 1, 0.5, -7.25, 1e21, 'text', '', 'é"', 9007199254740993n]
const isContainer = (value) => typeof value === 'object' && value !== null
const ordinary = { writable: true, enumerable: true, configurable: true }
const set = (at, name, value) => Object.defineProperty(at, name, { value, ...ordinary })

function make(depth) {
  const kind = random(depth > 2 ? 4 : 8)
  if (kind < 4) return pick(scalars)
  const count = random(4)
  if (kind < 6) return Array.from({ length: count }, () => make(depth + 1))
  const made = {}
  for (let n = 0; n < count; n += 1) set(made, pick(names), make(depth + 1))
  return made
}

function edit(root) {
  let at = root
  for (let depth = random(5); depth > 0; depth -= 1) {
    const inner = Object.values(at).filter(isContainer)
    if (inner.length > 0) at = pick(inner)
  }
  if (Array.isArray(at)) editList(at)
  else editMember(at)
}

function editList(at) {
  const n = at.length === 0 ? 0 : random(at.length)
  const action = at.length === 0 ? 0 : at.length > 8 ? 1 + random(3) : random(7)
  if (action === 0) at.push(make(1))
  else if (action === 1) at.pop()
  else if (action === 2) at.shift()
  else if (action === 3) at.splice(n, 2)
  else if (action === 4) at.reverse()
  else if (action === 5) [at[0], at[n]] = [at[n], at[0]]
  else at[n] = make(1)
}

function editMember(at) {
  const name = pick(names)
  const action = random(8)
  if (action < 2) delete at[name]
  else if (action === 2 && typeof at.a === 'number') at.a += 1
  else set(at, name, make(1))
}

guildhall.room('edited', {
  create: () => ({ a: {}, b: [] }),
  message: {
    100(ctx, body, room) {
      if (random(25) === 0) room.state = { a: make(0), b: [make(0)] }
      for (let n = guildhall.json.decode(body); n > 0; n -= 1) edit(room.state)
      room.broadcast(101, guildhall.json.encode(room.state), { after_state: true })
    },
  },
})
`

export const lua = `
local json = guildhall.json
local seed = 1
local function random(below)
  seed = seed * 48271 % 2147483647
  return seed % below
end
local function pick(list) return list[random(#list) + 1] end
local names = { 'a', 'b', 'c', 'length', 'toString', '__proto__', '7', '' }
local scalars = {
  json.null, true, false, 0, 1, 0.5, -7.25, 1e21, 'text', '', 'é"', 9007199254740993,
}
local function is_container(value) return type(value) == 'table' and value ~= json.null end
local function is_list(value) return getmetatable(value) == 'array' end

local function make(depth)
  local kind = random(depth > 2 and 4 or 8)
  if kind < 4 then return pick(scalars) end
  local count = random(4)
  local made = kind < 6 and json.array({}) or {}
  for n = 1, count do
    made[kind < 6 and n or pick(names)] = make(depth + 1)
  end
  return made
end

local function containers_in(at)
  local found = {}
  local function look(value)
    if is_container(value) then table.insert(found, value) end
  end
  if is_list(at) then
    for _, value in ipairs(at) do look(value) end
  else
    for _, name in ipairs(names) do look(at[name]) end
  end
  return found
end

local function edit_list(at)
  local size = #at
  local n = size == 0 and 1 or random(size) + 1
  local action = size == 0 and 0 or size > 8 and 1 + random(3) or random(7)
  if action == 0 then table.insert(at, make(1))
  elseif action == 1 then table.remove(at)
  elseif action == 2 then table.remove(at, 1)
  elseif action == 3 then
    table.remove(at, n)
    if n < size then table.remove(at, n) end
  elseif action == 4 then
    for k = 1, size // 2 do at[k], at[size + 1 - k] = at[size + 1 - k], at[k] end
  elseif action == 5 then at[1], at[n] = at[n], at[1]
  else at[n] = make(1) end
end

local function edit_member(at)
  local name = pick(names)
  local action = random(8)
  if action < 2 then at[name] = nil
  elseif action == 2 and type(at.a) == 'number' then at.a = at.a + 1
  else at[name] = make(1) end
end

local function edit(root)
  local at = root
  for _ = 1, random(5) do
    local inner = containers_in(at)
    if #inner > 0 then at = pick(inner) end
  end
  if is_list(at) then edit_list(at) else edit_member(at) end
end

guildhall.room('edited', {
  create = function() return { a = {}, b = json.array({}) } end,
  message = {
    [100] = function(ctx, body, room)
      if random(25) == 0 then room.state = { a = make(0), b = json.array({ make(0) }) } end
      for _ = 1, json.decode(body) do edit(room.state) end
      room.broadcast(101, json.encode(room.state), { after_state = true })
    end,
  },
})
`

export const python = `
import guildhall
from guildhall import json

seed = 1
names = ['a', 'b', 'c', 'length', 'toString', '__proto__', '7', '']
scalars = [None, True, False, 0, 1, 0.5, -7.25, 1e21, 'text', '', 'é"', 9007199254740993]

def random(below):
    global seed
    seed = seed * 48271 % 2147483647
    return seed % below

def pick(values):
    return values[random(len(values))]

def make(depth):
    kind = random(4 if depth > 2 else 8)
    if kind < 4:
        return pick(scalars)
    count = random(4)
    if kind < 6:
        return [make(depth + 1) for _ in range(count)]
    return {pick(names): make(depth + 1) for _ in range(count)}

def edit(root):
    at = root
    for _ in range(random(5)):
        members = at if isinstance(at, list) else at.values()
        inner = [value for value in members if isinstance(value, (list, dict))]
        if inner:
            at = pick(inner)
    if isinstance(at, list):
        edit_list(at)
    else:
        edit_member(at)

def edit_list(at):
    n = random(len(at)) if at else 0
    action = 0 if not at else 1 + random(3) if len(at) > 8 else random(7)
    if action == 0:
        at.append(make(1))
    elif action == 1:
        at.pop()
    elif action == 2:
        del at[0]
    elif action == 3:
        del at[n:n + 2]
    elif action == 4:
        at.reverse()
    elif action == 5:
        at[0], at[n] = at[n], at[0]
    else:
        at[n] = make(1)

def edit_member(at):
    name = pick(names)
    action = random(8)
    number = at.get('a')
    if action < 2:
        at.pop(name, None)
    elif action == 2 and isinstance(number, (int, float)) and not isinstance(number, bool):
        at['a'] = number + 1
    else:
        at[name] = make(1)

def message(ctx, body, room):
    if random(25) == 0:
        room.state = {'a': make(0), 'b': [make(0)]}
    for _ in range(json.decode(body)):
        edit(room.state)
    room.broadcast(101, json.encode(room.state), after_state=True)

guildhall.room('edited', {'create': lambda: {'a': {}, 'b': []}, 'message': {100: message}})
`

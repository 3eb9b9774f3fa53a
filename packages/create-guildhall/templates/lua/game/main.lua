-- The server's side: it counts the taps of each room, and keeps the best of all times.
local json = guildhall.json

local tap_kind = 100
local scores_kind = 101

local rooms = {}
local best

local function scores_of(room_id)
  rooms[room_id] = rooms[room_id] or {}
  return rooms[room_id]
end

local function show_scores(room_id)
  local body = json.encode(scores_of(room_id))
  guildhall.broadcast(scores_kind, body, false, { room_id = room_id })
end

-- Calls wait until it has settled.
guildhall.on_start(function(start)
  for _, room in ipairs(start.state or {}) do rooms[room.room_id] = room.scores end
  local stored = guildhall.storage_read(nil, "records", "taps")
  if stored then best = { name = stored.value.name, taps = stored.value.taps } end
end)

-- What the next revision goes on with.
guildhall.on_unload(function()
  local state = {}
  for room_id, scores in pairs(rooms) do
    if next(scores) then table.insert(state, { room_id = room_id, scores = scores }) end
  end
  return state
end)

guildhall.on_match_join(function(match) show_scores(match.room_id) end)

guildhall.on_message(tap_kind, function(ctx, body)
  -- Clients may send anything.
  local ok, said = pcall(json.decode, body)
  local more = ok and type(said) == "table" and said.taps
  if more ~= 1 or not ctx.room_id or not ctx.username then return end
  local scores = scores_of(ctx.room_id)
  local taps = (scores[ctx.username] or 0) + more
  scores[ctx.username] = taps
  show_scores(ctx.room_id)
  -- A broadcast leaves out whose message is handled.
  guildhall.send(ctx.sender, scores_kind, json.encode(scores))
  if best and taps <= best.taps then return end
  best = { name = ctx.username, taps = taps }
  guildhall.storage_write(nil, "records", "taps", best)
end)

guildhall.on_match_ended(function(match) rooms[match.room_id] = nil end)

guildhall.on_rpc("best", function() return best end)

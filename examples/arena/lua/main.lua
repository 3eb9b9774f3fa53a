-- The server's side of the arena: a world per room, moved 20 times a second. Clients say where
-- they want to go; what happens is decided here alone. `../messages/protocol.ts` has what is sent.
-- `../game` is the same game in TypeScript, by a room with state.

local rules = require("world")

local STEER, SNAPSHOT, HAPPENING = 100, 101, 102

local worlds = {}

local function world_of(room_id)
  worlds[room_id] = worlds[room_id] or rules.create()
  return worlds[room_id]
end

-- A change of these files goes on with the worlds as they are.
guildhall.on_unload(function()
  local saved = {}
  for room_id, world in pairs(worlds) do
    table.insert(saved, { room_id = room_id, world = rules.save(world) })
  end
  return guildhall.json.array(saved)
end)

guildhall.on_start(function(start)
  for _, saved in ipairs(start.state or {}) do
    worlds[saved.room_id] = rules.restore(saved.world)
  end
end)

guildhall.on_room_create(function()
  return { map = "courtyard", mode = "sparks", max_players = 8, listed = true }
end)

guildhall.on_match_join(function(ctx)
  rules.enter(world_of(ctx.room_id), ctx.participant, ctx.user_id)
end)

guildhall.on_match_leave(function(ctx)
  rules.leave(world_of(ctx.room_id), ctx.participant)
end)

guildhall.on_match_ended(function(ctx)
  worlds[ctx.room_id] = nil
end)

guildhall.on_drop(function(ctx)
  if ctx.room_id then rules.set_away(world_of(ctx.room_id), ctx.sender, true) end
end)

guildhall.on_return(function(ctx)
  if ctx.room_id then rules.set_away(world_of(ctx.room_id), ctx.sender, false) end
end)

guildhall.on_message(STEER, function(ctx, body)
  -- Clients may send anything.
  local wanted = guildhall.json.decode(body)
  if ctx.room_id == nil or type(wanted) ~= "table" then return end
  local world = world_of(ctx.room_id)
  -- After a restart of the script the players are still there, and their world is new.
  rules.enter(world, ctx.sender, ctx.user_id)
  rules.steer(world, ctx.sender, wanted)
end)

-- The result of the match is that of its last whole round; operators find it in the record.
local function set_result(world, over)
  local scores = {}
  for n, entry in ipairs(over.scores) do scores[n] = entry[2] end
  local winner = world.fighters[over.winner]
  guildhall.match.set_result({
    round = over.round,
    winner = winner and winner.user_id or guildhall.json.null,
    scores = scores,
  })
end

guildhall.on_tick(function(dt, room_id)
  if room_id == nil then return end
  local world = world_of(room_id)
  for _, happening in ipairs(rules.step(world, math.min(dt, 0.25))) do
    guildhall.broadcast(HAPPENING, guildhall.json.encode(happening))
    if happening.type == "over" then set_result(world, happening) end
  end
  -- The next one is 50 ms away: a lost one is no loss.
  guildhall.broadcast(SNAPSHOT, guildhall.json.encode(rules.snapshot(world)), true)
end)

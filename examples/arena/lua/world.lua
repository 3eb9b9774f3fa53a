-- The rules of the arena, without a server: numbers in, numbers out.

local WIDTH, HEIGHT = 1600, 900
local FIGHTER_RADIUS, SPARK_RADIUS = 24, 10
-- Sparks that win a round.
local GOAL = 12
-- Seconds between two rounds.
local PAUSE_S = 5
local SPARKS_MAX = 14
local SPEED, DASH_SPEED = 340, 980
local DASH_S, DASH_EVERY_S = 0.2, 1.2
-- How fast a fighter takes on the speed that its player wants, per second.
local GRIP = 9
-- A fighter that was robbed cannot be robbed again for a while.
local SAFE_S = 1.5

local PILLARS = {
  { x = 400, y = 260, radius = 58 },
  { x = 1200, y = 260, radius = 58 },
  { x = 800, y = 450, radius = 84 },
  { x = 400, y = 640, radius = 58 },
  { x = 1200, y = 640, radius = 58 },
}

local rules = {}

local function round(number) return math.floor(number + 0.5) end

local function distance(one, other)
  return math.sqrt((one.x - other.x) ^ 2 + (one.y - other.y) ^ 2)
end

-- A place away from pillars and edges.
local function free_place()
  while true do
    local place = {
      x = 60 + math.random() * (WIDTH - 120),
      y = 60 + math.random() * (HEIGHT - 120),
    }
    local is_free = true
    for _, pillar in ipairs(PILLARS) do
      if distance(place, pillar) <= pillar.radius + 50 then is_free = false end
    end
    if is_free then return place end
  end
end

-- `order` has the ids of the fighters as they came: `pairs` has no order of its own.
function rules.create()
  local world = { round = 1, pause_left_s = 0, fighters = {}, order = {}, sparks = {} }
  for n = 1, SPARKS_MAX do world.sparks[n] = free_place() end
  return world
end

-- A world as JSON has it.
function rules.save(world)
  local fighters = {}
  for n, id in ipairs(world.order) do fighters[n] = world.fighters[id] end
  return {
    round = world.round,
    pause_left_s = world.pause_left_s,
    fighters = guildhall.json.array(fighters),
    sparks = world.sparks,
  }
end

function rules.restore(saved)
  local fighters, order = {}, {}
  for n, fighter in ipairs(saved.fighters) do
    fighters[fighter.id], order[n] = fighter, fighter.id
  end
  return {
    round = saved.round,
    pause_left_s = saved.pause_left_s,
    fighters = fighters,
    order = order,
    sparks = saved.sparks,
  }
end

local function fighters_of(world)
  local found = {}
  for n, id in ipairs(world.order) do found[n] = world.fighters[id] end
  return found
end

local function still() return { x = 0, y = 0, dash = false } end

-- Puts a player in; one who is there already stays as it is.
function rules.enter(world, id, user_id)
  if world.fighters[id] then return end
  local place = free_place()
  world.fighters[id] = {
    id = id, user_id = user_id, x = place.x, y = place.y, vx = 0, vy = 0, steer = still(),
    score = 0, away = false, dash_left_s = 0, dash_in_s = 0, safe_left_s = SAFE_S,
  }
  table.insert(world.order, id)
end

function rules.leave(world, id)
  world.fighters[id] = nil
  for n, each in ipairs(world.order) do
    if each == id then return table.remove(world.order, n) end
  end
end

local function is_finite(number)
  return type(number) == "number" and math.abs(number) < math.huge
end

-- Takes what a player wants, made harmless: a direction is never longer than 1.
function rules.steer(world, id, wanted)
  local fighter = world.fighters[id]
  if not fighter or not is_finite(wanted.x) or not is_finite(wanted.y) then return end
  local length = math.max(1, math.sqrt(wanted.x ^ 2 + wanted.y ^ 2))
  fighter.steer = { x = wanted.x / length, y = wanted.y / length, dash = wanted.dash == true }
end

-- Whoever has lost the connection stands still until it is back.
function rules.set_away(world, id, away)
  local fighter = world.fighters[id]
  if not fighter then return end
  fighter.away, fighter.steer = away, still()
end

local function wait(world, dt)
  world.pause_left_s = math.max(0, world.pause_left_s - dt)
  if world.pause_left_s > 0 then return {} end
  world.round = world.round + 1
  for _, fighter in pairs(world.fighters) do
    local place = free_place()
    fighter.score, fighter.x, fighter.y = 0, place.x, place.y
    fighter.vx, fighter.vy, fighter.safe_left_s = 0, 0, SAFE_S
  end
  return { { type = "begin", round = world.round } }
end

local function keep_inside(fighter)
  for _, pillar in ipairs(PILLARS) do
    local dx, dy = fighter.x - pillar.x, fighter.y - pillar.y
    local away = distance(fighter, pillar)
    local nearest = pillar.radius + FIGHTER_RADIUS
    if away < nearest then
      if away == 0 then away = 1 end
      fighter.x = pillar.x + dx / away * nearest
      fighter.y = pillar.y + dy / away * nearest
    end
  end
  fighter.x = math.min(WIDTH - FIGHTER_RADIUS, math.max(FIGHTER_RADIUS, fighter.x))
  fighter.y = math.min(HEIGHT - FIGHTER_RADIUS, math.max(FIGHTER_RADIUS, fighter.y))
end

local function move(fighter, dt)
  local wanted = fighter.steer
  fighter.dash_in_s = math.max(0, fighter.dash_in_s - dt)
  fighter.dash_left_s = math.max(0, fighter.dash_left_s - dt)
  fighter.safe_left_s = math.max(0, fighter.safe_left_s - dt)
  local wants_to_move = wanted.x ~= 0 or wanted.y ~= 0
  if wanted.dash and wants_to_move and fighter.dash_in_s == 0 then
    fighter.dash_left_s, fighter.dash_in_s = DASH_S, DASH_EVERY_S
    fighter.vx, fighter.vy = wanted.x * DASH_SPEED, wanted.y * DASH_SPEED
  end
  if fighter.dash_left_s == 0 then
    local share = math.min(1, GRIP * dt)
    fighter.vx = fighter.vx + (wanted.x * SPEED - fighter.vx) * share
    fighter.vy = fighter.vy + (wanted.y * SPEED - fighter.vy) * share
  end
  fighter.x = fighter.x + fighter.vx * dt
  fighter.y = fighter.y + fighter.vy * dt
  keep_inside(fighter)
end

local function collect(world, fighter, happenings)
  for n, spark in ipairs(world.sparks) do
    if distance(spark, fighter) <= FIGHTER_RADIUS + SPARK_RADIUS then
      world.sparks[n] = free_place()
      fighter.score = fighter.score + 1
      local at = { type = "spark", by = fighter.id, x = round(spark.x), y = round(spark.y) }
      table.insert(happenings, at)
    end
  end
end

-- A dash into somebody takes a spark and pushes.
local function rob(robber, victim, happenings)
  if robber.dash_left_s == 0 or robber == victim or victim.safe_left_s > 0 then return end
  if distance(robber, victim) > 2 * FIGHTER_RADIUS + 6 then return end
  victim.safe_left_s, victim.vx, victim.vy = SAFE_S, robber.vx, robber.vy
  if victim.score == 0 then return end
  victim.score = victim.score - 1
  robber.score = robber.score + 1
  table.insert(happenings, {
    type = "stolen", by = robber.id, from = victim.id,
    x = round(victim.x), y = round(victim.y),
  })
end

local function judge(world, happenings)
  local scores = {}
  for n, fighter in ipairs(fighters_of(world)) do scores[n] = { fighter.id, fighter.score } end
  table.sort(scores, function(one, other) return one[2] > other[2] end)
  local first = scores[1]
  if not first or first[2] < GOAL then return end
  world.pause_left_s = PAUSE_S
  table.insert(happenings, {
    type = "over", round = world.round, winner = first[1], scores = scores,
  })
end

-- Moves the world on by `dt` seconds and returns what happened.
function rules.step(world, dt)
  if world.pause_left_s > 0 then return wait(world, dt) end
  local happenings, fighters = {}, fighters_of(world)
  for _, fighter in ipairs(fighters) do move(fighter, dt) end
  for _, fighter in ipairs(fighters) do collect(world, fighter, happenings) end
  for _, robber in ipairs(fighters) do
    for _, victim in ipairs(fighters) do rob(robber, victim, happenings) end
  end
  judge(world, happenings)
  return happenings
end

function rules.snapshot(world)
  local players, sparks = {}, {}
  for n, fighter in ipairs(fighters_of(world)) do
    players[n] = {
      id = fighter.id, x = round(fighter.x), y = round(fighter.y), score = fighter.score,
      dashing = fighter.dash_left_s > 0, away = fighter.away,
    }
  end
  for n, spark in ipairs(world.sparks) do sparks[n] = { round(spark.x), round(spark.y) } end
  return {
    round = world.round,
    pause = math.ceil(world.pause_left_s),
    players = guildhall.json.array(players),
    sparks = sparks,
  }
end

return rules

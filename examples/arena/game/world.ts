import type { Happening, Snapshot, Steer } from './protocol.ts'

/** The rules of the arena, without a server: numbers in, numbers out. */

export const width = 1600
export const height = 900
export const fighterRadius = 24
export const sparkRadius = 10
/** Sparks that win a round. */
export const goal = 12
/** Seconds between two rounds. */
export const pauseS = 5

export const pillars = [
  { x: 400, y: 260, radius: 58 },
  { x: 1200, y: 260, radius: 58 },
  { x: 800, y: 450, radius: 84 },
  { x: 400, y: 640, radius: 58 },
  { x: 1200, y: 640, radius: 58 },
] as const

const sparksMax = 14
const speed = 340
const dashSpeed = 980
const dashS = 0.2
const dashEveryS = 1.2
/** How fast a fighter takes on the speed that its player wants, per second. */
const grip = 9
/** A fighter that was robbed cannot be robbed again for a while. */
const safeS = 1.5

type Point = { x: number; y: number }

export type Fighter = Point & {
  userId: string | null
  vx: number
  vy: number
  steer: Steer
  score: number
  away: boolean
  /** Seconds that are left of a dash, until the next one, and of safety. */
  dashLeftS: number
  dashInS: number
  safeLeftS: number
}

export type World = {
  round: number
  /** Seconds until the next round; 0 while one is played. */
  pauseLeftS: number
  fighters: Map<number, Fighter>
  sparks: Point[]
  random(): number
}

export function createWorld(random: () => number = Math.random): World {
  const world: World = { round: 1, pauseLeftS: 0, fighters: new Map(), sparks: [], random }
  while (world.sparks.length < sparksMax) world.sparks.push(freePlace(world))
  return world
}

/** A world as JSON has it. */
export type SavedWorld = Omit<World, 'fighters' | 'random'> & { fighters: [number, Fighter][] }

export function saveWorld({ round, pauseLeftS, fighters, sparks }: World): SavedWorld {
  return { round, pauseLeftS, fighters: [...fighters], sparks }
}

export function restoreWorld({ fighters, ...saved }: SavedWorld): World {
  return { ...saved, fighters: new Map(fighters), random: Math.random }
}

/** Puts a player in; one who is there already stays as it is. */
export function enter(world: World, id: number, userId: string | null): void {
  if (world.fighters.has(id)) return
  const still = { vx: 0, vy: 0, steer: { x: 0, y: 0, dash: false } }
  const clocks = { dashLeftS: 0, dashInS: 0, safeLeftS: safeS }
  const fighter = { ...freePlace(world), ...still, ...clocks, userId, score: 0, away: false }
  world.fighters.set(id, fighter)
}

export function leave(world: World, id: number): void {
  world.fighters.delete(id)
}

/** Takes what a player wants, made harmless: a direction is never longer than 1. */
export function steer(world: World, id: number, { x, y, dash }: Steer): void {
  const fighter = world.fighters.get(id)
  if (fighter === undefined || !Number.isFinite(x) || !Number.isFinite(y)) return
  const length = Math.max(1, Math.hypot(x, y))
  fighter.steer = { x: x / length, y: y / length, dash: dash === true }
}

/** Whoever has lost the connection stands still until it is back. */
export function setAway(world: World, id: number, away: boolean): void {
  const fighter = world.fighters.get(id)
  if (fighter === undefined) return
  fighter.away = away
  fighter.steer = { x: 0, y: 0, dash: false }
}

/** Moves the world on by `dtS` seconds and returns what happened. */
export function step(world: World, dtS: number): Happening[] {
  if (world.pauseLeftS > 0) return wait(world, dtS)
  const happenings: Happening[] = []
  for (const fighter of world.fighters.values()) move(fighter, dtS)
  for (const [id, fighter] of world.fighters) happenings.push(...collect(world, id, fighter))
  for (const [id, fighter] of world.fighters) happenings.push(...rob(world, id, fighter))
  return [...happenings, ...judge(world)]
}

export function snapshotOf({ round, pauseLeftS, fighters, sparks }: World): Snapshot {
  return {
    round,
    pause: Math.ceil(pauseLeftS),
    players: Array.from(fighters, ([id, { x, y, score, dashLeftS, away }]) => ({
      id,
      x: Math.round(x),
      y: Math.round(y),
      score,
      dashing: dashLeftS > 0,
      away,
    })),
    sparks: sparks.map(({ x, y }) => [Math.round(x), Math.round(y)]),
  }
}

function wait(world: World, dtS: number): Happening[] {
  world.pauseLeftS = Math.max(0, world.pauseLeftS - dtS)
  if (world.pauseLeftS > 0) return []
  world.round += 1
  for (const fighter of world.fighters.values()) {
    fighter.score = 0
    Object.assign(fighter, freePlace(world), { vx: 0, vy: 0, safeLeftS: safeS })
  }
  return [{ type: 'begin', round: world.round }]
}

function move(fighter: Fighter, dtS: number): void {
  const { steer: wanted } = fighter
  fighter.dashInS = Math.max(0, fighter.dashInS - dtS)
  fighter.dashLeftS = Math.max(0, fighter.dashLeftS - dtS)
  fighter.safeLeftS = Math.max(0, fighter.safeLeftS - dtS)
  const wantsToMove = wanted.x !== 0 || wanted.y !== 0
  if (wanted.dash && wantsToMove && fighter.dashInS === 0) {
    fighter.dashLeftS = dashS
    fighter.dashInS = dashEveryS
    fighter.vx = wanted.x * dashSpeed
    fighter.vy = wanted.y * dashSpeed
  }
  if (fighter.dashLeftS === 0) {
    const share = Math.min(1, grip * dtS)
    fighter.vx += (wanted.x * speed - fighter.vx) * share
    fighter.vy += (wanted.y * speed - fighter.vy) * share
  }
  fighter.x += fighter.vx * dtS
  fighter.y += fighter.vy * dtS
  keepInside(fighter)
}

function keepInside(fighter: Fighter): void {
  for (const pillar of pillars) {
    const dx = fighter.x - pillar.x
    const dy = fighter.y - pillar.y
    const distance = Math.hypot(dx, dy) || 1
    const nearest = pillar.radius + fighterRadius
    if (distance >= nearest) continue
    fighter.x = pillar.x + (dx / distance) * nearest
    fighter.y = pillar.y + (dy / distance) * nearest
  }
  fighter.x = Math.min(width - fighterRadius, Math.max(fighterRadius, fighter.x))
  fighter.y = Math.min(height - fighterRadius, Math.max(fighterRadius, fighter.y))
}

function collect(world: World, id: number, fighter: Fighter): Happening[] {
  return world.sparks.flatMap((spark, index) => {
    if (distanceOf(spark, fighter) > fighterRadius + sparkRadius) return []
    world.sparks[index] = freePlace(world)
    fighter.score += 1
    return [{ type: 'spark', by: id, x: Math.round(spark.x), y: Math.round(spark.y) }]
  })
}

/** A dash into somebody takes a spark and pushes. */
function rob(world: World, id: number, robber: Fighter): Happening[] {
  if (robber.dashLeftS === 0) return []
  return Array.from(world.fighters).flatMap(([from, victim]): Happening[] => {
    const isNear = distanceOf(robber, victim) <= 2 * fighterRadius + 6
    if (from === id || !isNear || victim.safeLeftS > 0) return []
    victim.safeLeftS = safeS
    victim.vx = robber.vx
    victim.vy = robber.vy
    if (victim.score === 0) return []
    victim.score -= 1
    robber.score += 1
    return [{ type: 'stolen', by: id, from, x: Math.round(victim.x), y: Math.round(victim.y) }]
  })
}

function judge(world: World): Happening[] {
  const scores = Array.from(world.fighters, ([id, { score }]): [number, number] => [id, score])
  scores.sort(([, one], [, other]) => other - one)
  const [first] = scores
  if (first === undefined || first[1] < goal) return []
  world.pauseLeftS = pauseS
  return [{ type: 'over', round: world.round, winner: first[0], scores }]
}

/** A place away from pillars and edges. */
function freePlace({ random }: Pick<World, 'random'>): Point {
  for (;;) {
    const place = { x: 60 + random() * (width - 120), y: 60 + random() * (height - 120) }
    if (pillars.every((pillar) => distanceOf(place, pillar) > pillar.radius + 50)) return place
  }
}

function distanceOf(one: Point, other: Point): number {
  return Math.hypot(one.x - other.x, one.y - other.y)
}

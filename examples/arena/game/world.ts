import type { ArenaView, Flash, Steer } from './protocol.ts'

/** The rules of the arena, without a server. A world is JSON, as a room keeps it. */

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
  /** Participant id. */
  id: number
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
  fighters: Fighter[]
  sparks: Point[]
  /** Who has won the round before the pause. */
  winner: number | null
  /** Of the last whole round; operators find it in the record of the match. */
  result?: { round: number; winner: string | null; scores: number[] }
}

export function createWorld(): World {
  const sparks = Array.from({ length: sparksMax }, freePlace)
  return { round: 1, pauseLeftS: 0, fighters: [], sparks, winner: null }
}

export function enter(world: World, id: number, userId: string | null): void {
  const still = { vx: 0, vy: 0, steer: { x: 0, y: 0, dash: false } }
  const clocks = { dashLeftS: 0, dashInS: 0, safeLeftS: safeS }
  world.fighters.push({ id, userId, ...freePlace(), ...still, ...clocks, score: 0, away: false })
}

export function leave(world: World, id: number): void {
  world.fighters = world.fighters.filter((fighter) => fighter.id !== id)
}

/** Takes what a player wants, made harmless: a direction is never longer than 1. */
export function steer(world: World, id: number, { x, y, dash }: Steer): void {
  const fighter = world.fighters.find((each) => each.id === id)
  if (fighter === undefined || !Number.isFinite(x) || !Number.isFinite(y)) return
  const length = Math.max(1, Math.hypot(x, y))
  fighter.steer = { x: x / length, y: y / length, dash: dash === true }
}

/** Whoever has lost the connection stands still until it is back. */
export function setAway(world: World, id: number, away: boolean): void {
  const fighter = world.fighters.find((each) => each.id === id)
  if (fighter === undefined) return
  fighter.away = away
  fighter.steer = { x: 0, y: 0, dash: false }
}

/** Moves the world on by `dtS` seconds and returns what players should see at once. */
export function step(world: World, dtS: number): Flash[] {
  if (world.pauseLeftS > 0) {
    wait(world, dtS)
    return []
  }
  for (const fighter of world.fighters) move(fighter, dtS)
  const flashes = world.fighters.flatMap((fighter) => collect(world, fighter))
  flashes.push(...world.fighters.flatMap((fighter) => rob(world, fighter)))
  judge(world)
  return flashes
}

export function viewOf({ round, pauseLeftS, fighters, sparks, winner }: World): ArenaView {
  return {
    round,
    pause: Math.ceil(pauseLeftS),
    winner,
    players: fighters.map(({ id, x, y, score, dashLeftS, away }) => {
      return { id, x, y, score, dashing: dashLeftS > 0, away }
    }),
    sparks: sparks.map(({ x, y }) => [x, y]),
  }
}

function wait(world: World, dtS: number): void {
  world.pauseLeftS = Math.max(0, world.pauseLeftS - dtS)
  if (world.pauseLeftS > 0) return
  world.round += 1
  world.winner = null
  for (const fighter of world.fighters) {
    Object.assign(fighter, freePlace(), { score: 0, vx: 0, vy: 0, safeLeftS: safeS })
  }
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

function collect(world: World, fighter: Fighter): Flash[] {
  return world.sparks.flatMap(({ x, y }, index) => {
    if (distanceOf({ x, y }, fighter) > fighterRadius + sparkRadius) return []
    world.sparks[index] = freePlace()
    fighter.score += 1
    return [{ type: 'spark', x, y }]
  })
}

/** A dash into somebody takes a spark and pushes. */
function rob({ fighters }: World, robber: Fighter): Flash[] {
  if (robber.dashLeftS === 0) return []
  return fighters.flatMap((victim): Flash[] => {
    const isNear = distanceOf(robber, victim) <= 2 * fighterRadius + 6
    if (victim === robber || !isNear || victim.safeLeftS > 0) return []
    victim.safeLeftS = safeS
    victim.vx = robber.vx
    victim.vy = robber.vy
    if (victim.score === 0) return []
    victim.score -= 1
    robber.score += 1
    return [{ type: 'stolen', x: victim.x, y: victim.y }]
  })
}

function judge(world: World): void {
  const sorted = world.fighters.toSorted((one, other) => other.score - one.score)
  const [first] = sorted
  if (first === undefined || first.score < goal) return
  world.pauseLeftS = pauseS
  world.winner = first.id
  const scores = sorted.map(({ score }) => score)
  world.result = { round: world.round, winner: first.userId, scores }
}

/** A place away from pillars and edges. */
function freePlace(): Point {
  for (;;) {
    const place = {
      x: 60 + Math.random() * (width - 120),
      y: 60 + Math.random() * (height - 120),
    }
    if (pillars.every((pillar) => distanceOf(place, pillar) > pillar.radius + 50)) return place
  }
}

function distanceOf(one: Point, other: Point): number {
  return Math.hypot(one.x - other.x, one.y - other.y)
}

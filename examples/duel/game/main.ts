/// <reference path="../../../packages/server/guildhall.d.ts" />

import { type Call, callKind, type Duel, type Strike, strikeKind } from './protocol.ts'

/** The referee: it waits until everybody is there, takes one strike of each, and names a winner. */
const game: Guildhall<Duel> = guildhall

type Fighter = { userId: string | null; region: string; mode: string; rating: number }

type Fight = {
  /** How many players the match was made for. */
  expected: number
  /** By participant, in the order in which they came. */
  fighters: Map<number, Fighter>
  powers: Map<number, number>
  /** Seconds since the first of them came. */
  waited: number
  isOffered: boolean
}

const fights = new Map<number, Fight>()

/** So long the referee waits before it asks for somebody else. */
const patienceSec = 0.5
/** Who comes later may be so much better or worse. */
const ratingSpan = 100

game.on_matchmaker_matched(({ room_id, members }) => {
  const expected = members.length
  const fight = { expected, fighters: new Map(), powers: new Map(), waited: 0, isOffered: false }
  fights.set(room_id, fight)
  const { region, mode } = fighterOf(null, members[0]?.properties ?? {})
  return { map: region, mode }
})

game.on_match_join(({ room_id, participant, user_id, properties }) => {
  const fight = fights.get(room_id)
  if (fight === undefined) return
  fight.fighters.set(participant, fighterOf(user_id, properties ?? {}))
  if (fight.fighters.size === fight.expected) call({ type: 'begin' })
})

game.on_match_leave(({ room_id, participant }) => {
  fights.get(room_id)?.fighters.delete(participant)
})

game.on_match_ended(({ room_id }) => {
  fights.delete(room_id)
})

game.on_message(strikeKind, ({ room_id, sender }, body) => {
  const fight = fights.get(room_id ?? 0)
  // The type says what clients should send, not what they do send.
  const strike: Strike | null = game.json.decode(body)
  if (!fight?.fighters.has(sender) || typeof strike?.power !== 'number') return
  if (fight.fighters.size < fight.expected || fight.powers.has(sender)) return
  fight.powers.set(sender, strike.power)
  if (fight.powers.size === fight.expected) end(fight, sender)
})

game.on_tick(async (dt, room_id) => {
  const fight = fights.get(room_id ?? 0)
  if (room_id === null || fight === undefined) return
  const seats = fight.expected - fight.fighters.size
  if (seats === 0 || fight.fighters.size === 0 || fight.powers.size > 0) return
  fight.waited += dt
  if (fight.waited < patienceSec || fight.isOffered) return
  fight.isOffered = await offer(room_id, fight, seats)
  if (fight.isOffered) call({ type: 'waiting', seats })
})

/** Offers the seats of those who did not come. As long as their tokens hold them, it cannot. */
async function offer(room_id: number, { fighters }: Fight, seats: number): Promise<boolean> {
  const [first] = fighters.values()
  if (first === undefined) return false
  const { region, mode, rating } = first
  const near = `rating >= ${rating - ratingSpan} AND rating <= ${rating + ratingSpan}`
  const query = `region == "${region}" AND mode == "${mode}" AND ${near}`
  try {
    await game.matchmaker.backfill(room_id, seats, { region, mode, rating }, { query })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'conflict') return false
    throw error
  }
}

/** The strongest wins; among equals, who came first. */
function end({ fighters, powers }: Fight, last: number): void {
  const strongest = Math.max(...powers.values())
  const found = [...fighters].find(([participant]) => powers.get(participant) === strongest)
  const winner = found?.[1].userId ?? ''
  game.match.set_result({ winner, players: fighters.size })
  call({ type: 'over', winner })
  // A broadcast leaves out whose message it answers.
  game.send(last, callKind, game.json.encode({ type: 'over', winner }))
}

function call(said: Call): void {
  game.broadcast(callKind, game.json.encode(said))
}

function fighterOf(userId: string | null, properties: Record<string, unknown>): Fighter {
  const { region, mode, rating } = properties
  return { userId, region: String(region), mode: String(mode), rating: Number(rating) }
}

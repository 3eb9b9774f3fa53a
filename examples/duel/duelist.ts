import { type Connection, createPlayer, type Matched, type Room } from '@guildhall/client'
import { type Call, callKind, type Duel, strikeKind } from './game/protocol.ts'

export type Region = 'eu' | 'us' | 'asia'

/** Who a player is and what it wants: alone against one, or two against two. */
export type Profile = { name: string; region: Region; rating: number; mode: 'duel' | 'pairs' }

/** A player at the node, without a screen. */
export type Duelist = Profile & {
  readonly userId: string
  readonly connection: Connection<Duel>
}

/** A fight that a player has left. */
export type Fought = { player: Duelist; roomId: number; winner: string }

/** How far the ratings of a match may be apart before its tickets have waited long. */
export const ratingSpan = 100

export const sizes = { duel: 2, pairs: 4 } as const

/** Signs a new player up and connects it. */
export async function arrive(baseUrl: string, profile: Profile): Promise<Duelist> {
  const player = createPlayer<Duel>(baseUrl)
  const id = crypto.randomUUID()
  const username = `${profile.name}-${id.slice(0, 8)}`
  const { user_id: userId } = await player.signIn.device({ id, create: true, username })
  return { ...profile, userId, connection: await player.connect() }
}

/** The ticket: near in rating first, anybody of the region and mode after a while. */
export function criteriaOf({ region, rating, mode }: Profile) {
  const place = `region == "${region}" AND mode == "${mode}"`
  const near = `rating >= ${rating - ratingSpan} AND rating <= ${rating + ratingSpan}`
  return {
    query: `${place} AND ${near}`,
    wide_query: place,
    properties: { region, rating, mode },
    min_count: sizes[mode],
    max_count: sizes[mode],
  }
}

/** Makes a party of two: one invites, the other accepts. */
export async function formParty(leader: Duelist, friend: Duelist): Promise<string> {
  const invited = new Promise<string>((resolve) => {
    friend.connection.on('party', (event) => {
      if (event.type === 'party.invited') resolve(event.party_id)
    })
  })
  const { party_id } = await leader.connection.party.create()
  await leader.connection.party.invite({ party_id, target_user_id: friend.userId })
  await friend.connection.party.accept({ party_id: await invited })
  return party_id
}

/** The next match for a ticket that somebody else has queued, or that was queued by hand. */
export function nextMatch({ connection }: Duelist): Promise<Matched> {
  return new Promise((resolve) => {
    const off = connection.on('matched', (match) => {
      off()
      resolve(match)
    })
  })
}

/** Strikes when the referee says so, and leaves when the fight is over. */
export async function fight(player: Duelist, room: Room<Duel>): Promise<Fought> {
  const winner = new Promise<string>((resolve) => {
    room.on(callKind, (message) => {
      const call = message.json()
      if (call.type === 'begin') room.send(strikeKind, { power: player.rating })
      if (call.type === 'over') resolve(call.winner)
    })
  })
  const fought = { player, roomId: room.id, winner: await winner }
  await room.leave()
  return fought
}

/** Resolves when the referee calls it. */
export function hears(room: Room<Duel>, type: Call['type']): Promise<void> {
  return new Promise((resolve) => {
    room.on(callKind, (message) => {
      if (message.json().type === type) resolve()
    })
  })
}

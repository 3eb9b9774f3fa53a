import type { LiveRoom, MatchmakerTotals, matchesApi } from '@guildhall/contract'
import type { z } from 'zod'
import type { Transaction } from '../../database/database.ts'
import { refuse } from '../../kernel/failure.ts'
import { readJson } from '../../kernel/json/json-reader.ts'
import type { Mutate, Mutation } from '../../kernel/mutation.ts'
import type { Ended, RoomCommands } from '../../kernel/play/room-commands.ts'
import type { OpenRoom } from '../../kernel/play/rooms.ts'
import { defineFeature, mount } from '../feature.ts'

export type MatchesDeps = {
  rooms: Pick<RoomCommands, 'rooms' | 'room' | 'members' | 'savedState' | 'endRoom' | 'expelMember'>
  mutate: Mutate<Transaction>
  /** Whether any transport lets players in. */
  attached: boolean
  /** Null where there is no matchmaker. */
  matchmaker(): MatchmakerTotals | null
  /** Whether the script lets matches be looked at; counted when it does not. */
  admit(): boolean
}

type Query = z.output<(typeof matchesApi)['list']['query']>

/** The open rooms of this node, as operators see them. */
export function matchesFeature(deps: MatchesDeps) {
  const { rooms, attached } = deps

  function expectReady(): void {
    if (!deps.admit()) throw refuse.runtimeUnavailable('the script is not ready')
  }

  async function list({ filter = '', limit }: Query) {
    expectReady()
    const all = attached ? await rooms.rooms() : []
    const found = all.filter(({ name, map, mode }) =>
      [name ?? '', map, mode].some((text) => text.includes(filter)),
    )
    return {
      realtime_attached: attached,
      total: all.length,
      matchmaker: attached ? deps.matchmaker() : null,
      rooms: found.slice(0, limit).map(rowOf),
    }
  }

  async function get(id: number) {
    expectReady()
    const room = attached ? await rooms.room(id) : undefined
    if (room === undefined) throw refuse.notFound('no such room')
    const members = await rooms.members(id)
    return {
      ...rowOf(room),
      members: members.map(({ participant, user_id }) => ({ participant, user_id })),
    }
  }

  async function state(id: number) {
    expectReady()
    const saved = attached ? await rooms.savedState(id) : undefined
    if (saved === undefined) throw refuse.notFound('no such room, or it has no state')
    const { value } = readJson(saved.text)
    return { state: value, seq: saved.seq, checkpoint_at_unix_ms: saved.atUnixMs }
  }

  /** It is over when its entry is written, because nobody could undo it. */
  async function change(mutation: Mutation, target: string, work: () => Promise<Ended>) {
    const ended = attached ? await work() : 'unknown'
    if (ended === 'unknown') throw refuse.notFound('no such room, or no such member')
    if (ended === 'ending') throw refuse.conflict('the room is ending')
    const done = { answer: undefined, target, details: '' }
    return deps.mutate(mutation, async () => done, { isolation: 'read committed' })
  }

  return defineFeature({
    routes: mount({
      matches: {
        list: ({ query }) => list(query),
        get: ({ params }) => get(params.id),
        state: ({ params }) => state(params.id),
        close: ({ mutation, params: { room_id } }) =>
          change(mutation, `${room_id}`, () => rooms.endRoom(room_id)),
        remove: ({ mutation, params: { room_id, participant } }) =>
          change(mutation, `${room_id}/${participant}`, () =>
            rooms.expelMember(room_id, participant),
          ),
      },
    }),
  })
}

function rowOf(room: OpenRoom): LiveRoom {
  const { room_id, name, map, mode, players, max_players, open, binding } = room
  return {
    id: room_id,
    ...{ name, map, mode, players, max_players, open },
    script_revision: binding?.revision_id ?? null,
    script_generation: binding?.generation ?? null,
  }
}

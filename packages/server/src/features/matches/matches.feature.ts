import type { LiveRoom, MatchmakerTotals, matchesApi } from '@guildhall/contract'
import type { z } from 'zod'
import { refuse } from '../../kernel/failure.ts'
import { readJson } from '../../kernel/json/json-reader.ts'
import type { RoomCommands } from '../../kernel/play/room-commands.ts'
import type { OpenRoom } from '../../kernel/play/rooms.ts'
import { defineFeature, mount } from '../feature.ts'

export type MatchesDeps = {
  rooms: Pick<RoomCommands, 'rooms' | 'room' | 'members' | 'savedState'>
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

  return defineFeature({
    routes: mount({
      matches: {
        list: ({ query }) => list(query),
        get: ({ params }) => get(params.id),
        state: ({ params }) => state(params.id),
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

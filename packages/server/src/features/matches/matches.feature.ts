import { LiveRoom, type MatchmakerTotals, matchesApi } from '@guildhall/contract'
import { z } from 'zod'
import type { Transaction } from '../../database/database.ts'
import type { OtherNodes } from '../../kernel/cluster/other-nodes.ts'
import { refuse } from '../../kernel/failure.ts'
import { readJson } from '../../kernel/json/json-reader.ts'
import type { Mutate, Mutation } from '../../kernel/mutation.ts'
import type { Ended, RoomCommands } from '../../kernel/play/room-commands.ts'
import type { OpenRoom } from '../../kernel/play/rooms.ts'
import { defineFeature, mount } from '../feature.ts'

export type MatchesDeps = {
  rooms: Pick<RoomCommands, 'rooms' | 'room' | 'members' | 'savedState' | 'endRoom' | 'expelMember'>
  mutate: Mutate<Transaction>
  nodes: OtherNodes
  /** Whether any transport lets players in. */
  attached: boolean
  /** Null where there is no matchmaker. */
  matchmaker(): MatchmakerTotals | null
  /** Whether the script lets matches be looked at; counted when it does not. */
  admit(): boolean
}

type Query = z.output<typeof RoomsQuery>

const aboutList = 'matches'
const aboutRoom = 'room'

/** What a node is asked about its rooms, and answers. */
const RoomsQuery = z.object({ filter: z.string().optional(), limit: z.number().int().min(1) })
const RoomsOfNode = z.object({ total: z.number().int().min(0), rooms: z.array(LiveRoom) })

/** The nodes and their open rooms, as operators see them. */
export function matchesFeature(deps: MatchesDeps) {
  const { rooms, nodes, attached } = deps

  function expectReady(): void {
    if (!deps.admit()) throw refuse.runtimeUnavailable('the script is not ready')
  }

  /** The rooms of this node that a filter finds, and how many there are in all. */
  async function listHere({ filter = '', limit }: Query) {
    const all = attached ? await rooms.rooms() : []
    const found = all.filter(({ name, map, mode }) =>
      [name ?? '', map, mode].some((text) => text.includes(filter)),
    )
    return { total: all.length, rooms: found.slice(0, limit).map(here) }
  }

  async function list(query: Query) {
    expectReady()
    const [own, { answers, missing }] = await Promise.all([
      listHere(query),
      nodes.askAll(aboutList, query),
    ])
    const read = answers.map(({ value }) => RoomsOfNode.safeParse(value).data)
    const others = read.filter((each) => each !== undefined)
    const unread = answers.filter((_, at) => read[at] === undefined).map(({ node_id }) => node_id)
    const all = [own, ...others]
    const found = all.flatMap((each) => each.rooms).toSorted((a, b) => a.id - b.id)
    return {
      realtime_attached: attached,
      total: all.reduce((sum, { total }) => sum + total, 0),
      matchmaker: attached ? deps.matchmaker() : null,
      rooms: found.slice(0, query.limit),
      ...(nodes.nodeId !== null && { nodes_missing: [...missing, ...unread] }),
    }
  }

  async function getHere(id: number) {
    const room = attached ? await rooms.room(id) : undefined
    if (room === undefined) return undefined
    const members = await rooms.members(id)
    return {
      ...here(room),
      members: members.map(({ participant, user_id }) => ({ participant, user_id })),
    }
  }

  async function get(id: number) {
    expectReady()
    const own = await getHere(id)
    if (own !== undefined) return own
    const answer = await nodes.askOwner(id, aboutRoom, id)
    const room = matchesApi.get.ok.safeParse(answer?.value).data
    if (room === undefined) throw refuse.notFound('no such room')
    return room
  }

  function here(room: OpenRoom): LiveRoom {
    return { ...rowOf(room), ...(nodes.nodeId !== null && { node_id: nodes.nodeId }) }
  }

  nodes.serve(aboutList, async (question) => {
    const query = RoomsQuery.safeParse(question).data
    return query && (await listHere(query))
  })
  nodes.serve(aboutRoom, async (id) => (typeof id === 'number' ? await getHere(id) : undefined))

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
        nodes: async () => ({
          items: nodes.nodes().toSorted((a, b) => byId(a.node_id, b.node_id)),
        }),
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

function byId(one: string, other: string): number {
  return one < other ? -1 : 1
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

import { LiveRoom, type MatchmakerTotals, matchesApi, once } from '@guildhall/contract'
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
  rooms: Pick<
    RoomCommands,
    'rooms' | 'room' | 'members' | 'savedState' | 'traffic' | 'mayEnd' | 'endRoom' | 'expelMember'
  >
  mutate: Mutate<Transaction>
  nodes: OtherNodes
  /** Whether any transport lets players in. */
  attached: boolean
  /** Null where there is no matchmaker. */
  matchmaker(): MatchmakerTotals | null
  /** Whether the script lets matches be looked at; counted when it does not. */
  admit(): boolean
}

type Query = z.output<ReturnType<typeof RoomsQuery>>

const aboutList = 'matches'
const aboutRoom = 'room'
const aboutState = 'room state'
const aboutEnd = 'may end'
const aboutClose = 'close room'
const aboutRemove = 'remove member'
const aboutTraffic = 'room traffic'

/** What a node is asked about its rooms, and answers. */
const RoomsQuery = once(() =>
  z.object({ filter: z.string().optional(), limit: z.number().int().min(1) }),
)
const RoomId = once(() => z.number().int().min(0))
const MemberOfRoom = once(() =>
  z.object({ room_id: RoomId(), participant: z.number().int().min(0) }),
)
const RoomOrMember = once(() => MemberOfRoom().partial({ participant: true }))
const Outcome = once(() => z.enum(['done', 'ending', 'unknown']))
const SavedState = once(() =>
  z.object({ text: z.string(), seq: z.number().int(), atUnixMs: z.number().int() }),
)
const RoomsOfNode = once(() =>
  z.object({ total: z.number().int().min(0), rooms: z.array(LiveRoom()) }),
)

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
    const read = answers.map(({ value }) => RoomsOfNode().safeParse(value).data)
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
    const room = matchesApi.get.ok.safeParse(await fromOwner(id, aboutRoom)).data
    if (room === undefined) throw refuse.notFound('no such room')
    return room
  }

  /** What the other node of a room says of it, if there is one and it answers. */
  async function fromOwner(id: number, about: string): Promise<unknown> {
    const answer = await nodes.askOwner(id, about, id)
    return answer === 'silent' ? undefined : answer?.value
  }

  function here(room: OpenRoom): LiveRoom {
    return { ...rowOf(room), ...(nodes.nodeId !== null && { node_id: nodes.nodeId }) }
  }

  nodes.serve(aboutList, async (question) => {
    const query = RoomsQuery().safeParse(question).data
    return query && (await listHere(query))
  })
  serveRoom(aboutRoom, RoomId, getHere)
  serveRoom(aboutState, RoomId, savedHere)
  serveRoom(aboutTraffic, RoomId, trafficHere)
  serveRoom(aboutEnd, RoomOrMember, mayEndHere)
  serveRoom(aboutClose, RoomId, closeHere)
  serveRoom(aboutRemove, MemberOfRoom, removeHere)

  function serveRoom<Q>(about: string, shape: () => z.ZodType<Q>, answer: (asked: Q) => unknown) {
    nodes.serve(about, async (question) => {
      const asked = shape().safeParse(question)
      return asked.success ? await answer(asked.data) : undefined
    })
  }

  async function savedHere(id: number) {
    return attached ? await rooms.savedState(id) : undefined
  }

  async function mayEndHere({ room_id, participant }: RoomOrMember): Promise<Ended> {
    return attached ? await rooms.mayEnd(room_id, participant) : 'unknown'
  }

  async function closeHere(id: number): Promise<Ended> {
    return attached ? await rooms.endRoom(id) : 'unknown'
  }

  async function removeHere({ room_id, participant }: Member): Promise<Ended> {
    return attached ? await rooms.expelMember(room_id, participant) : 'unknown'
  }

  async function trafficHere(id: number) {
    return attached ? await rooms.traffic(id) : undefined
  }

  async function traffic(id: number) {
    expectReady()
    const own = await trafficHere(id)
    if (own !== undefined) return own
    const found = matchesApi.traffic.ok.safeParse(await fromOwner(id, aboutTraffic)).data
    if (found === undefined) throw refuse.notFound('no such room')
    return found
  }

  async function state(id: number) {
    expectReady()
    const own = await savedHere(id)
    const saved = own ?? SavedState().safeParse(await fromOwner(id, aboutState)).data
    if (saved === undefined) throw refuse.notFound('no such room, or it has no state')
    const { value } = readJson(saved.text)
    return { state: value, seq: saved.seq, checkpoint_at_unix_ms: saved.atUnixMs }
  }

  /**
   * Nobody could undo it, and the other node may do it and answer too late: so its entry is written
   * before it is done, and the answer for a repeat behind it.
   */
  async function change({ actor, action, idempotent }: Mutation, { target, ...ending }: Ending) {
    const { room_id, participant } = ending
    const meant = { room_id, ...(participant !== undefined && { participant }) }
    const own = await mayEndHere(meant)
    const isHere = own !== 'unknown'
    expectDone(isHere ? own : await outcomeThere(room_id, aboutEnd, meant))
    const done = { answer: undefined, target, details: '' }
    const write = (mutation: Mutation) =>
      deps.mutate(mutation, async () => done, { isolation: 'read committed' })
    await write({ actor, ...(action && { action }) })
    expectDone(
      isHere ? await ending.here() : await outcomeThere(room_id, ending.about, ending.question),
    )
    return idempotent && (await write({ actor, idempotent }))
  }

  async function outcomeThere(room_id: number, about: string, question: unknown) {
    const answer = await nodes.askOwner(room_id, about, question)
    if (answer === undefined) return 'unknown'
    return answer === 'silent' ? answer : (Outcome().safeParse(answer.value).data ?? 'silent')
  }

  function close(mutation: Mutation, room_id: number) {
    return change(mutation, {
      ...{ target: `${room_id}`, room_id, about: aboutClose, question: room_id },
      here: () => closeHere(room_id),
    })
  }

  function remove(mutation: Mutation, { room_id, participant }: Member) {
    const member = { room_id, participant }
    return change(mutation, {
      ...{ target: `${room_id}/${participant}`, ...member, about: aboutRemove, question: member },
      here: () => removeHere(member),
    })
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
        traffic: ({ params }) => traffic(params.id),
        close: ({ mutation, params }) => close(mutation, params.room_id),
        remove: ({ mutation, params }) => remove(mutation, params),
      },
    }),
  })
}

type Member = z.output<ReturnType<typeof MemberOfRoom>>
type RoomOrMember = z.output<ReturnType<typeof RoomOrMember>>
/** What ends, and how: on this node, or by a question to the node of the room. */
type Ending = {
  target: string
  room_id: number
  participant?: number
  here(): Promise<Ended>
  about: string
  question: unknown
}

function expectDone(ended: Ended | 'silent'): void {
  if (ended === 'unknown') throw refuse.notFound('no such room, or no such member')
  if (ended === 'ending') throw refuse.conflict('the room is ending')
  if (ended === 'silent') throw refuse.conflict('the node of the room does not answer')
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

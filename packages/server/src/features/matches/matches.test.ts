import { matchesApi, type RoomMember } from '@guildhall/contract'
import { expect, it, onTestFinished } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import type { OtherNodes } from '../../kernel/cluster/other-nodes.ts'
import type { Ended } from '../../kernel/play/room-commands.ts'
import type { OpenRoom } from '../../kernel/play/rooms.ts'
import { nobodyPlays, openTestApi } from '../../testing/api.ts'
import { openOperator, openViewer, viewerKeys } from '../../testing/operator.ts'

const room = (id: number, more: Partial<OpenRoom> = {}): OpenRoom => ({
  room_id: id,
  match_id: `mt1-${id}`,
  name: null,
  map: 'lobby',
  mode: '',
  max_players: 0,
  open: true,
  tick: false,
  listed: false,
  properties: {},
  players: 1,
  binding: null,
  ...more,
})

const row = (id: number, more: object = {}) => ({
  id,
  name: null,
  map: 'lobby',
  mode: '',
  players: 1,
  max_players: 0,
  open: true,
  script_revision: null,
  script_generation: null,
  ...more,
})

const members: RoomMember[] = [
  { participant: 4, user_id: 'ana', username: 'Ana', connected: false },
  { participant: 9, user_id: null, username: null, connected: true },
]

const traffic = { match_id: 'mt1-5', opened_at_unix_ms: 3, messages_total: 1200 }

/** Room 7 is always ending. */
function ended(id: number, rooms: readonly OpenRoom[]): Ended {
  if (id === 7) return 'ending'
  return rooms.some(({ room_id }) => room_id === id) ? 'done' : 'unknown'
}

async function setUp(
  rooms: OpenRoom[],
  play: {
    attached?: boolean
    ready?: () => boolean
    nodes?: Partial<OtherNodes>
    ends?(room: number): Promise<void>
  } = {},
) {
  const [inMemory] = testBackends
  if (inMemory === undefined) throw new Error('there is no backend')
  const test = await inMemory.open()
  const { attached = true, ready = () => true } = play
  const api = await openTestApi({
    db: test.db,
    config: viewerKeys,
    play: {
      ...nobodyPlays,
      attached,
      nodes: { ...nobodyPlays.nodes, ...play.nodes },
      gateway: {
        ...nobodyPlays.gateway,
        rooms: async () => rooms,
        room: async (id) => rooms.find(({ room_id }) => room_id === id),
        members: async () => members,
        traffic: async (id) => (rooms.some(({ room_id }) => room_id === id) ? traffic : undefined),
        mayEnd: async (id, participant) =>
          participant === undefined || members.some((member) => member.participant === participant)
            ? ended(id, rooms)
            : 'unknown',
        endRoom: async (id) => {
          await play.ends?.(id)
          return ended(id, rooms)
        },
        expelMember: async (id) => {
          await play.ends?.(id)
          return ended(id, rooms)
        },
      },
      script: { ...nobodyPlays.script, game: { admit: ready } },
    },
  })
  onTestFinished(async () => {
    await api.close()
    await test.dispose()
  })
  const operator = await openOperator(api)
  const { send } = operator
  const list = async (query = '') =>
    matchesApi.list.ok.parse((await send('GET', `/matches${query}`)).body)
  return { api, operator, send, list }
}

it('[R-CON-1] [R-CON-2] lists the rooms of the node, and those that a filter finds', async () => {
  const binding = { revision_id: 'sha256:abc', generation: 3 }
  const { list } = await setUp([
    room(1, { name: 'Arena 1', binding, players: 2, max_players: 4, open: false }),
    room(5, { map: 'castle' }),
    room(9, { mode: 'duel_1' }),
  ])
  const arena = row(1, {
    name: 'Arena 1',
    players: 2,
    max_players: 4,
    open: false,
    script_revision: 'sha256:abc',
    script_generation: 3,
  })
  const [castle, duel] = [row(5, { map: 'castle' }), row(9, { mode: 'duel_1' })]
  const all = { realtime_attached: true, total: 3, matchmaker: null }
  expect(await list()).toEqual({ ...all, rooms: [arena, castle, duel] })
  expect(await list('?limit=2')).toEqual({ ...all, rooms: [arena, castle] })
  expect((await list('?filter=1')).rooms).toEqual([arena, duel])
  expect((await list('?filter=castle')).rooms).toEqual([castle])
  expect((await list('?filter=arena')).rooms).toEqual([])
  expect((await list('?filter=')).rooms).toHaveLength(3)
})

it('[H-MAT-1] shows a room with its members in their order, and nothing of who they are', async () => {
  const { send } = await setUp([room(5)])
  const { status, body } = await send('GET', '/matches/5')
  expect(status).toBe(200)
  expect(body).toEqual({
    ...row(5),
    members: [
      { participant: 4, user_id: 'ana' },
      { participant: 9, user_id: null },
    ],
  })
})

it('[H-MAT-2] refuses what is malformed, then asks the gate, then looks for the room', async () => {
  let isReady = false
  let asked = 0
  const ready = () => {
    asked += 1
    return isReady
  }
  const { send } = await setUp([room(5)], { ready })
  const status = async (path: string) => (await send('GET', path)).status
  expect(await status('/matches?limit=x')).toBe(400)
  expect(await status('/matches?x=1')).toBe(400)
  expect(await status('/matches/five')).toBe(400)
  expect(asked).toBe(0)
  for (const path of ['/matches', '/matches/5', '/matches/6']) {
    const answer = await send('GET', path)
    expect([answer.status, answer.body]).toEqual([
      503,
      { code: 'runtime_unavailable', message: 'game script unavailable' },
    ])
  }
  isReady = true
  expect([await status('/matches'), await status('/matches/5')]).toEqual([200, 200])
  expect(await status('/matches/6')).toBe(404)
})

it('[H-MAT-2] [R-TR-2] has no rooms where no transport runs', async () => {
  const { send, list } = await setUp([room(5)], { attached: false })
  expect(await list()).toEqual({
    realtime_attached: false,
    total: 0,
    matchmaker: null,
    rooms: [],
  })
  expect((await send('GET', '/matches/5')).status).toBe(404)
})

it('[H-OPS-5] admins close rooms and remove members, once for each key, and both are audited', async () => {
  const { api, operator, send } = await setUp([room(5)])
  const headers = { 'idempotency-key': 'close-5' }
  for (let sent = 0; sent < 2; sent += 1) {
    const answer = await send('POST', '/matches/5/close', undefined, headers)
    expect([answer.status, answer.text]).toEqual([204, ''])
  }
  expect((await send('POST', '/matches/5/members/9/remove')).status).toBe(204)
  expect(await operator.trailOf('5')).toEqual([['match.close', '']])
  expect(await operator.trailOf('5/9')).toEqual([['match.remove', '']])
  const refused: [path: string, status: number][] = [
    ['/matches/6/close', 404],
    ['/matches/7/close', 409],
    ['/matches/x/close', 400],
    ['/matches/5/members/77/remove', 404],
    ['/matches/6/members/9/remove', 404],
    ['/matches/7/members/9/remove', 409],
    ['/matches/5/members/x/remove', 400],
  ]
  for (const [path, status] of refused) {
    expect([path, (await send('POST', path)).status]).toEqual([path, status])
  }
  const viewer = await openViewer(api)
  for (const path of ['/matches/5/close', '/matches/5/members/9/remove', '/matches/x/close']) {
    expect((await viewer.send('POST', path)).status).toBe(403)
  }
  expect(await operator.trailOf('7')).toEqual([])
})

it('[R-CL-21] rooms of all nodes are listed by id; who does not answer, or badly, is named', async () => {
  const there = (id: number, node_id: string) => row(id, { node_id })
  const asked: unknown[] = []
  const { list } = await setUp([room(5), room(7)], {
    nodes: {
      nodeId: 'one',
      async askAll(about, question) {
        asked.push([about, question])
        const rooms = [there(2, 'two'), there(6, 'two')]
        const answers = [
          { node_id: 'two', value: { total: 9, rooms } },
          { node_id: 'odd', value: { total: -1, rooms: 'none' } },
        ]
        return { answers, missing: ['three'] }
      },
    },
  })
  expect(await list('?limit=3')).toEqual({
    ...{ realtime_attached: true, total: 11, matchmaker: null },
    rooms: [there(2, 'two'), there(5, 'one'), there(6, 'two')],
    nodes_missing: ['three', 'odd'],
  })
  expect(asked).toEqual([['matches', { limit: 3 }]])
})

it('[R-CL-21] a room of another node is shown as that node answers', async () => {
  const there = { ...row(8, { node_id: 'two' }), members: [] }
  const { send } = await setUp([], {
    nodes: {
      nodeId: 'one',
      askOwner: async (id) => ({ node_id: 'two', value: id === 8 ? there : null }),
    },
  })
  expect(await send('GET', '/matches/8')).toMatchObject({ status: 200, body: there })
  expect((await send('GET', '/matches/9')).status).toBe(404)
})

it('says how much comes into a room, also into one of another node', async () => {
  const there = { match_id: 'mt1-8', opened_at_unix_ms: 4, messages_total: 9 }
  const asked: unknown[] = []
  const { send } = await setUp([room(5)], {
    nodes: {
      askOwner: async (id, about, question) => {
        asked.push([id, about, question])
        return { node_id: 'two', value: id === 8 ? there : null }
      },
    },
  })
  expect(await send('GET', '/matches/5/traffic')).toMatchObject({ status: 200, body: traffic })
  expect(await send('GET', '/matches/8/traffic')).toMatchObject({ status: 200, body: there })
  expect((await send('GET', '/matches/9/traffic')).status).toBe(404)
  expect((await send('GET', '/matches/x/traffic')).status).toBe(400)
  expect(asked).toEqual([
    [8, 'room traffic', 8],
    [9, 'room traffic', 9],
  ])
})

it('[R-CL-21] nodes are listed by their ids, with what is known of them', async () => {
  const node = (node_id: string, state: 'live' | 'gone') => ({
    ...{ node_id, state, boot_id: `bt1-${node_id}`, slot: 1, version: '1.0.0' },
    ...{ seen_at_unix_ms: 5, rooms: 2, connections: 3 },
  })
  const { send } = await setUp([], {
    nodes: { nodes: () => [node('two', 'gone'), node('one', 'live')] },
  })
  const { body } = await send('GET', '/nodes')
  expect(body).toEqual({ items: [node('one', 'live'), node('two', 'gone')] })
})

it('[H-OPS-5, R-CL-21] what is done to a room of another node is done there, and audited here', async () => {
  const asked: unknown[] = []
  const { send, operator } = await setUp([room(5)], {
    nodes: {
      nodeId: 'one',
      async askOwner(id, about, question) {
        asked.push([id, about, question])
        if (id === 9) return 'silent'
        if (id > 9) return undefined
        return { node_id: 'two', value: id === 8 ? 'done' : id === 7 ? 'ending' : 'odd' }
      },
    },
  })
  const status = async (path: string) => (await send('POST', path)).status
  expect(await status('/matches/8/close')).toBe(204)
  expect(await status('/matches/8/members/3/remove')).toBe(204)
  const member = { room_id: 8, participant: 3 }
  expect(asked).toEqual([
    [8, 'may end', { room_id: 8 }],
    [8, 'close room', 8],
    [8, 'may end', member],
    [8, 'remove member', member],
  ])
  expect(await operator.trailOf('8')).toEqual([['match.close', '']])
  expect(await operator.trailOf('8/3')).toEqual([['match.remove', '']])
  // One that is ending, a silent node, no node, and one that answers badly.
  const refused = [7, 9, 10, 6].map((id) => status(`/matches/${id}/close`))
  expect(await Promise.all(refused)).toEqual([409, 409, 404, 409])
  expect(await status('/matches/9/members/3/remove')).toBe(409)
  for (const id of [7, 9, 10, 6]) expect(await operator.trailOf(`${id}`)).toEqual([])
})

it('[H-OPS-5] the entry is there before anything ends', async () => {
  const seen: unknown[] = []
  const { send, operator } = await setUp([room(5)], {
    ends: async () => {
      seen.push(await operator.trailOf('5'), await operator.trailOf('5/9'))
    },
  })
  expect((await send('POST', '/matches/5/members/9/remove')).status).toBe(204)
  expect((await send('POST', '/matches/5/close')).status).toBe(204)
  const removed = [['match.remove', '']]
  expect(seen).toEqual([[], removed, [['match.close', '']], removed])
})

it('[H-OPS-5, R-CL-21] a node that answers too late may have done it: the entry stays', async () => {
  let isLate = true
  const { send, operator } = await setUp([], {
    nodes: {
      nodeId: 'one',
      askOwner: async (_, about) =>
        about === 'close room' && isLate ? 'silent' : { node_id: 'two', value: 'done' },
    },
  })
  const headers = { 'idempotency-key': 'late' }
  const close = async () => (await send('POST', '/matches/8/close', undefined, headers)).status
  expect(await close()).toBe(409)
  expect(await operator.trailOf('8')).toEqual([['match.close', '']])
  isLate = false
  expect([await close(), await close()]).toEqual([204, 204])
  expect(await operator.trailOf('8')).toHaveLength(2)
})

it('[R-CL-21] [R-STA-7] the state of a room of another node is read as that node keeps it', async () => {
  const text = '{"big":9007199254740993}'
  const { send, api } = await setUp([], {
    nodes: {
      nodeId: 'one',
      async askOwner(id) {
        if (id === 9) return 'silent'
        return { node_id: 'two', value: id === 8 ? { text, seq: 4, atUnixMs: 5 } : { text: 1 } }
      },
    },
  })
  const { status, text: answer } = await send('GET', '/matches/8/state')
  expect(status).toBe(200)
  expect(answer).toBe(`{"state":${text},"seq":4,"checkpoint_at_unix_ms":5}`)
  const viewer = await openViewer(api)
  expect((await viewer.send('GET', '/matches/8/state')).text).toBe(answer)
  expect((await send('GET', '/matches/9/state')).status).toBe(404)
  expect((await send('GET', '/matches/7/state')).status).toBe(404)
})

it('[R-CL-21] answers other nodes about its own rooms, and bad questions with nothing', async () => {
  const served = new Map<string, (question: unknown) => Promise<unknown>>()
  await setUp([room(5)], {
    nodes: { nodeId: 'one', serve: (about, answer) => void served.set(about, answer) },
  })
  const ask = (about: string, question: unknown) => served.get(about)?.(question)
  expect(await ask('close room', 5)).toBe('done')
  expect(await ask('close room', 6)).toBe('unknown')
  expect(await ask('remove member', { room_id: 5, participant: 4 })).toBe('done')
  expect(await ask('may end', { room_id: 5, participant: 4 })).toBe('done')
  expect(await ask('may end', { room_id: 5, participant: 77 })).toBe('unknown')
  expect(await ask('may end', { room_id: 6 })).toBe('unknown')
  for (const about of ['matches', 'room', 'room state', 'may end', 'close room', 'remove member']) {
    for (const bad of [undefined, null, 'x', -1, 1.5, {}, [5], { room_id: '5' }]) {
      expect([about, await ask(about, bad)]).toEqual([about, undefined])
    }
  }
})

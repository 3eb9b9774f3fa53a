import { randomUUID } from 'node:crypto'
import { createPlayer, type Room } from '@guildhall/client'
import { afterEach, describe, expect, it } from 'vitest'
import { serveForSdk } from './sdk-node.fixture.ts'

const script = `
guildhall.room('cards', {
  create: (ctx, options) => ({
    state: { table: [], turn: null, hands: {}, options },
    label: { map: 'green', max_players: 4, listed: true },
  }),
  admit: (ctx) => ctx.options.key !== 'wrong' || 'not with that key',
  join(ctx, room) {
    room.state.hands[ctx.sender] = ['ace', 'king']
    room.state.turn ??= ctx.sender
  },
  leave(ctx, room) {
    delete room.state.hands[ctx.sender]
  },
  message: {
    100(ctx, body, room) {
      const card = new TextDecoder().decode(body)
      room.state.hands[ctx.sender] = room.state.hands[ctx.sender].filter((held) => held !== card)
      room.state.table.push({ card, by: ctx.sender })
      room.broadcast(101, 'before')
      room.broadcast(102, 'behind', { after_state: true })
    },
    103(ctx, body, room) {
      room.state.table.push({ card: 'cheat', by: ctx.sender })
      throw new Error('no such card')
    },
    104(ctx, body, room) {
      room.state.bad = () => 1
    },
  },
  rpc: {
    async count(ctx, body, room) {
      room.state.table.push({ card: 'slow', by: ctx.sender })
      await guildhall.session_list()
      return { table: room.state.table.length, members: room.members.length }
    },
    hand: (ctx, body, room) => room.state.hands[ctx.sender],
    cycle(ctx, body, room) {
      room.state.table.push({ card: 'cheat', by: ctx.sender })
      const answer = {}
      return Object.assign(answer, { answer })
    },
    wait: (ctx, body, room) => void room.after(5, () => { room.state.turn = 'timer' }),
  },
  view: (state) => ({
    table: state.table,
    turn: state.turn,
    hands: Object.fromEntries(Object.entries(state.hands).map(([id, hand]) => [id, hand.length])),
  }),
  own: (state, member) => state.hands[member.participant] ?? [],
  ended: (room) => ({ cards: room.state.table.length }),
})
guildhall.room('race', {
  tick_hz: 50,
  sync_hz: 25,
  decimals: 1,
  create: () => ({ x: 0, ticks: 0 }),
  tick(dt, room) {
    room.state.x += dt
    room.state.ticks += 1
  },
})
guildhall.on_matchmaker_matched(({ members }) => ({ mode: members[0].properties.game }))
guildhall.room('matched', {
  create: ({ sender, options, room_id, match_id, name, user_id }, given) => ({
    state: { sender, options, room_id, match_id, name, user_id, given, joined: 0 },
    label: { mode: 'something else', map: 'arena' },
  }),
  join: (ctx, room) => void (room.state.joined += 1),
})
guildhall.room('never', { create() { throw new Error('not today') } })
guildhall.on_message(150, (ctx) => guildhall.send(ctx.sender, 105, 'on_message'))
let [first, hasStalled] = [0, false]
guildhall.room('stalling', {
  create: () => ({}),
  view: () => 'seen',
  own(state, { participant }) {
    first ||= participant
    const stalls = participant !== first && !hasStalled
    hasStalled ||= stalls
    while (stalls) {}
    return 'mine'
  },
})
guildhall.on_rpc('crash', () => process.exit(1))
guildhall.on_rpc('echo', (ctx, body) => body)
`

const node = serveForSdk(script, { 'runtime.restart_backoff_ms': '10' })

type View = {
  table: { card: string; by: number }[]
  turn: number | string | null
  hands: { [id: string]: number }
}

let names = 0
const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function connect() {
  names += 1
  const player = createPlayer(node.url)
  const username = `state-${names}-${randomUUID()}`
  await player.signIn.device({ id: username, create: true, username })
  const connection = await player.connect({ transport: 'websocket' })
  closers.push(() => connection.close())
  return connection
}

async function join(room: string, options: object = { mode: 'cards' }) {
  const connection = await connect()
  const joined = await connection.rooms.joinOrCreate(room, { ...options })
  return { connection, room: joined, participant: connection.participant }
}

/** What an operator sees of the state of a room. */
async function savedTable(roomId: number): Promise<unknown> {
  const { table } = (await savedState(roomId)) as { table: unknown[] }
  return table
}

async function savedState(roomId: number): Promise<unknown> {
  const answer = await askState(roomId)
  const { state } = (await answer.json()) as { state: unknown }
  return state
}

async function askState(roomId: number): Promise<Response> {
  const { token } = await post('/console/v1/login', { username: 'admin', password: 'password' })
  return fetch(`${node.url}/console/v1/matches/${roomId}/state`, {
    headers: { authorization: `Bearer ${token}` },
  })
}

async function post(path: string, body: object): Promise<{ token: string }> {
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  return (await fetch(node.url + path, init)).json() as Promise<{ token: string }>
}

const viewOf = (room: Room) => room.state as View | undefined

/** Two players who search for a room of this mode, and the searches. */
async function search(game: string) {
  const criteria = { query: `game == "${game}"`, properties: { game }, ttl_ms: 2_000 }
  const connections = await Promise.all([1, 2].map(() => connect()))
  return Promise.all(connections.map(({ matchmaker }) => matchmaker.find(criteria)))
}

describe('rooms with state', () => {
  it('[R-STA-1] [R-STA-4] [R-STA-5] a member has the whole, its own part, and what changes', async () => {
    const ana = await join('table-1')
    expect(ana.room.mode).toBe('cards')
    expect(ana.room.map).toBe('green')
    await expect.poll(() => viewOf(ana.room)?.hands).toEqual({ [ana.participant]: 2 })
    expect(ana.room.own).toEqual(['ace', 'king'])
    const bo = await join('table-1')
    const heard: string[] = []
    bo.room.on(101, () => heard.push('before'))
    bo.room.on(102, () => heard.push('behind'))
    bo.room.on('state', (_state, changes) => {
      if (changes.some(({ path }) => path[0] === 'table')) heard.push('state')
    })
    await expect.poll(() => Object.keys(viewOf(bo.room)?.hands ?? {})).toHaveLength(2)
    ana.room.send(100, 'ace')
    const played = { card: 'ace', by: ana.participant }
    await expect.poll(() => viewOf(bo.room)?.table).toEqual([played])
    await expect.poll(() => heard).toEqual(['before', 'state', 'behind'])
    expect(viewOf(ana.room)?.table).toEqual([played])
    expect(ana.room.own).toEqual(['king'])
    expect(bo.room.own).toEqual(['ace', 'king'])
    expect(JSON.stringify(viewOf(bo.room))).not.toContain('king')
  })

  it('[S-STA-5] a kind without a handler is unhandled, whatever on_message says', async () => {
    const { connection, room } = await join('table-7')
    const other = await join('hall', {})
    const heard: string[] = []
    room.on(105, (message) => heard.push(`table: ${message.text()}`))
    other.room.on(105, (message) => heard.push(`hall: ${message.text()}`))
    room.send(150, 'nobody')
    expect(await connection.rpc('echo', 'up', { as: 'text' })).toBe('up')
    other.room.send(150, 'somebody')
    await expect.poll(() => heard).toEqual(['hall: on_message'])
  })

  it('[S-STA-5] [R-STA-1] a room of the matchmaker is created for nobody, without options', async () => {
    const searches = await search('matched')
    const [room, others] = await Promise.all(searches.map(({ room }) => room))
    expect([room?.mode, room?.map, others?.id]).toEqual(['matched', 'arena', room?.id])
    await expect
      .poll(() => room?.state)
      .toEqual({
        ...{ sender: 0, user_id: null, options: {}, given: {}, room_id: room?.id, name: null },
        ...{ match_id: expect.any(String), joined: 2 },
      })
    await expect.poll(() => others?.state).toEqual(room?.state)
  })

  it('[S-STA-5] a create that fails refuses the room, also one of the matchmaker', async () => {
    await expect(join('never', { mode: 'never' })).rejects.toThrow('room creation failed')
    const searches = await search('never')
    const ends = await Promise.allSettled(searches.map(({ room }) => room))
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })

  it('[R-STA-1] [R-STA-7] a mode that names no definition makes a room without state', async () => {
    const { room } = await join('plain', { mode: 'no such' })
    await join('table-8').then(({ room }) => expect.poll(() => room.state).toBeDefined())
    expect([room.mode, room.state]).toEqual(['', undefined])
    expect((await askState(room.id)).status).toBe(404)
  })

  it('[S-STA-2] a handler that throws, leaves or returns no JSON, leaves the state as it was', async () => {
    const ana = await join('table-2')
    await expect.poll(() => viewOf(ana.room)).toBeDefined()
    ana.room.send(103, 'x')
    ana.room.send(104, 'x')
    await expect(ana.connection.rpc('cycle')).rejects.toThrow()
    ana.room.send(100, 'ace')
    await expect.poll(() => viewOf(ana.room)?.table).toMatchObject([{ card: 'ace' }])
    expect(viewOf(ana.room)).not.toHaveProperty('bad')
  })

  it('[S-STA-1] [S-STA-3] handlers run one after another, also while one waits', async () => {
    const ana = await join('table-3')
    const answers = await Promise.all([1, 2, 3].map(() => ana.connection.rpc('count')))
    expect(answers).toEqual([1, 2, 3].map((table) => ({ table, members: 1 })))
    await ana.connection.rpc('wait')
    await expect.poll(() => viewOf(ana.room)?.turn).toBe('timer')
    expect(await ana.connection.rpc('echo', 'hi', { as: 'text' })).toBe('hi')
  })

  it('[S-STA-1] admit decides instead of on_room_join', async () => {
    await join('table-4')
    await expect(join('table-4', { key: 'wrong' })).rejects.toThrow('not with that key')
  })

  it('[R-STA-2] a room with ticks syncs after every n-th of them, rounded', async () => {
    const { room } = await join('race-1', { mode: 'race' })
    const seen: { x: number; ticks: number }[] = []
    room.on('state', (state) => seen.push(state as { x: number; ticks: number }))
    await expect.poll(() => seen.length).toBeGreaterThan(10)
    for (const { x } of seen) expect(Math.abs(x * 10 - Math.round(x * 10))).toBeLessThan(1e-9)
    const steps = seen.slice(2).map(({ ticks }, n) => ticks - (seen[n + 1]?.ticks ?? 0))
    expect(Math.min(...steps)).toBeGreaterThanOrEqual(2)
  })

  it('[R-STA-6] [R-STA-7] state outlives the worker, and every member gets it whole', async () => {
    const ana = await join('table-5')
    ana.room.send(100, 'ace')
    await expect.poll(() => viewOf(ana.room)?.table).toHaveLength(1)
    // A checkpoint follows within a second.
    await expect.poll(() => savedTable(ana.room.id)).toHaveLength(1)
    await expect(ana.connection.rpc('crash')).rejects.toThrow()
    await expect
      .poll(() => ana.connection.rpc('echo', 'up', { as: 'text' }).catch(() => ''))
      .toBe('up')
    ana.room.send(100, 'king')
    await expect
      .poll(() => viewOf(ana.room)?.table.map(({ card }) => card))
      .toEqual(['ace', 'king'])
    expect(ana.room.own).toEqual([])
  })

  it('[R-STA-4] [S-LIM-1] who came as the worker was interrupted has the whole at the next sync', async () => {
    const ana = await join('stalling', { mode: 'stalling' })
    await expect.poll(() => [ana.room.state, ana.room.own]).toEqual(['seen', 'mine'])
    const bo = await join('stalling', { mode: 'stalling' })
    await expect.poll(() => [bo.room.state, bo.room.own]).toEqual(['seen', 'mine'])
  })

  it('[R-STA-6] what create has returned is kept from the creation on', async () => {
    const ana = await join('race-2', { mode: 'cards', deck: 'red' })
    expect(await savedState(ana.room.id)).toMatchObject({ options: { deck: 'red' } })
  })

  it('[R-STA-4] a returned member has the whole again', async () => {
    const ana = await join('table-6')
    const bo = await join('table-6')
    await expect.poll(() => Object.keys(viewOf(ana.room)?.hands ?? {})).toHaveLength(2)
    await ana.connection.reconnect()
    bo.room.send(100, 'ace')
    await expect.poll(() => viewOf(ana.room)?.table).toHaveLength(1)
    expect(ana.room.own).toEqual(['ace', 'king'])
  })
})

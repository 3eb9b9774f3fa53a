import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPlayer, type Room } from '@guildhall/client'
import { RuntimeView } from '@guildhall/contract'
import { afterEach, describe, expect, it } from 'vitest'
import { createCaller } from '../../testing/api.ts'
import { openOperator } from '../../testing/operator.ts'
import { serveForSdk } from './sdk-node.fixture.ts'

const javascript = `
guildhall.room('cards', {
  sync_hz: 60,
  decimals: { x: 1 },
  create: (ctx, options) => ({
    state: { table: [], hands: {}, x: 0, deck: options.deck ?? null },
    label: { map: 'green', max_players: 4 },
  }),
  restore(state, room) {
    state.table.push('restored with ' + room.members.length)
    room.after(5, () => { room.state.table.push('in time') })
    return state
  },
  admit: (ctx, room) => ctx.options.key !== 'wrong' || 'not with that key',
  join(ctx, room) { room.state.hands[String(ctx.sender)] = ['ace', 'king'] },
  leave(ctx, room) { delete room.state.hands[String(ctx.sender)] },
  message: {
    100(ctx, body, room) {
      room.state.table.push(guildhall.json.decode(body).card)
      room.state.x += 0.26
      room.broadcast(101, 'played', { after_state: true })
    },
    102(ctx, body, room) {
      room.state.table.push('cheat')
      throw new Error('no such card')
    },
  },
  rpc: {
    async slow(ctx, body, room) {
      room.state.table.push('slow')
      await guildhall.session_list()
      room.state.table.push('later')
      return { table: room.state.table.length, members: room.members.length, map: room.label.map }
    },
    wait(ctx, body, room) { room.after(5, () => { room.state.table.push('timer') }) },
    text: (ctx, body, room) => 'a text',
  },
  view: (state) => ({ table: state.table, x: state.x, deck: state.deck }),
  own: (state, member) => state.hands[String(member.participant)] ?? [],
  ended: (room) => ({ cards: room.state.table.length }),
})
guildhall.on_rpc('echo', (ctx, body) => body)
`

const lua = `
local json = guildhall.json
guildhall.room('cards', {
  sync_hz = 60,
  decimals = { x = 1 },
  create = function(ctx, options)
    local state = { table = json.array(), hands = {}, x = 0, deck = options.deck or json.null }
    return { state = state, label = { map = 'green', max_players = 4 } }
  end,
  restore = function(state, room)
    table.insert(state.table, 'restored with ' .. #room.members)
    room.after(5, function() table.insert(room.state.table, 'in time') end)
    return state
  end,
  admit = function(ctx, room)
    if ctx.options.key == 'wrong' then return 'not with that key' end
    return true
  end,
  join = function(ctx, room) room.state.hands[tostring(ctx.sender)] = { 'ace', 'king' } end,
  leave = function(ctx, room) room.state.hands[tostring(ctx.sender)] = nil end,
  message = {
    [100] = function(ctx, body, room)
      table.insert(room.state.table, json.decode(body).card)
      room.state.x = room.state.x + 0.26
      room.broadcast(101, 'played', { after_state = true })
    end,
    [102] = function(ctx, body, room)
      table.insert(room.state.table, 'cheat')
      error('no such card')
    end,
  },
  rpc = {
    slow = function(ctx, body, room)
      table.insert(room.state.table, 'slow')
      guildhall.session_list()
      table.insert(room.state.table, 'later')
      return { table = #room.state.table, members = #room.members, map = room.label.map }
    end,
    wait = function(ctx, body, room)
      room.after(5, function() table.insert(room.state.table, 'timer') end)
    end,
    text = function() return 'a text' end,
  },
  view = function(state) return { table = state.table, x = state.x, deck = state.deck } end,
  own = function(state, member)
    return state.hands[tostring(member.participant)] or json.array()
  end,
  ended = function(room) return { cards = #room.state.table } end,
})
guildhall.on_rpc('echo', function(ctx, body) return body end)
`

const python = `
import guildhall
from guildhall import json

def create(ctx, options):
    state = {'table': [], 'hands': {}, 'x': 0, 'deck': options.get('deck')}
    return {'state': state, 'label': {'map': 'green', 'max_players': 4}}

def restore(state, room):
    state['table'].append(f'restored with {len(room.members)}')
    room.after(5, lambda: room.state['table'].append('in time'))
    return state

def admit(ctx, room):
    return 'not with that key' if ctx.options.get('key') == 'wrong' else True

def join(ctx, room):
    room.state['hands'][str(ctx.sender)] = ['ace', 'king']

def leave(ctx, room):
    del room.state['hands'][str(ctx.sender)]

def play(ctx, body, room):
    room.state['table'].append(json.decode(body)['card'])
    room.state['x'] += 0.26
    room.broadcast(101, 'played', after_state=True)

def cheat(ctx, body, room):
    room.state['table'].append('cheat')
    raise ValueError('no such card')

async def slow(ctx, body, room):
    room.state['table'].append('slow')
    await guildhall.session_list()
    table = room.state['table']
    table.append('later')
    return {'table': len(table), 'members': len(room.members), 'map': room.label.map}

def wait(ctx, body, room):
    room.after(5, lambda: room.state['table'].append('timer'))

guildhall.room('cards', {
    'sync_hz': 60,
    'decimals': {'x': 1},
    'create': create,
    'restore': restore,
    'admit': admit,
    'join': join,
    'leave': leave,
    'message': {100: play, 102: cheat},
    'rpc': {'slow': slow, 'wait': wait, 'text': lambda: 'a text'},
    'view': lambda state: {'table': state['table'], 'x': state['x'], 'deck': state['deck']},
    'own': lambda state, member: state['hands'].get(str(member.participant), []),
    'ended': lambda room: {'cards': len(room.state['table'])},
})

guildhall.on_rpc('echo', lambda ctx, body: body)
`

type View = { table: string[]; x: number; deck: string | null }

let names = 0
const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function enter(url: string, name: string, options: object = {}) {
  names += 1
  const player = createPlayer(url)
  const username = `guest-${names}-${randomUUID()}`
  await player.signIn.device({ id: username, create: true, username })
  const connection = await player.connect({ transport: 'websocket' })
  closers.push(() => connection.close())
  const room = await connection.rooms.joinOrCreate(name, { mode: 'cards', ...options })
  return { connection, room }
}

const viewOf = (room: Room) => room.state as View | undefined

const languages = [
  ['trusted JavaScript', 'main.js', javascript, 'trusted', 'javascript'],
  ['sandboxed JavaScript', 'main.js', javascript, 'sandboxed', 'javascript'],
  ['Lua', 'main.lua', lua, 'sandboxed', 'lua'],
  ['Python', 'main.py', python, 'sandboxed', 'python'],
] as const

describe.each(languages)('[S-STA-4] rooms with state in %s', (_, file, script, tier, language) => {
  const settings = {
    'runtime.tier': tier,
    'runtime.hot_reload': 'true',
    'runtime.hot_reload_poll_ms': '100',
    // What is late would be over, or tried again later: these tests are of no deadline.
    'runtime.deadline_ms': '5000',
    'runtime.tick_deadline_ms': '5000',
    'runtime.load_timeout_ms': '60000',
  }
  const node = serveForSdk(script, settings, file)

  it('[S-VIEW-1] [S-VIEW-2] are of a script that operators see with language, tier and file', async () => {
    const { send } = await openOperator({ call: createCaller(node.url) })
    const view = RuntimeView().parse((await send('GET', '/runtime')).body)
    const entrypoint = join(node.folder, file)
    expect(view).toMatchObject({
      ...{ selected_language: language, configured_language: null, tier, entrypoint },
      ...{ selection_source: 'autodetected', attached: true, adapter: 'worker' },
      script: { source: entrypoint, reloadable: true, rpcs: ['echo'] },
    })
  })

  it('have views, own parts, changes and a label', async () => {
    const ana = await enter(node.url, 'one', { deck: 'red' })
    const bo = await enter(node.url, 'one')
    expect([ana.room.map, ana.room.mode]).toEqual(['green', 'cards'])
    await expect.poll(() => viewOf(bo.room)).toEqual({ table: [], x: 0, deck: 'red' })
    expect(bo.room.own).toEqual(['ace', 'king'])
    const heard: unknown[] = []
    bo.room.on(101, () => heard.push(viewOf(bo.room)?.table))
    ana.room.send(100, { card: 'ace' })
    await expect.poll(() => heard).toEqual([['ace']])
    expect(viewOf(bo.room)?.x).toBe(0.3)
    await expect(enter(node.url, 'one', { key: 'wrong' })).rejects.toThrow('not with that key')
  })

  it('[S-STA-2] keep the state as it was when a handler fails', async () => {
    const ana = await enter(node.url, 'two')
    ana.room.send(102, 'x')
    ana.room.send(100, { card: 'ace' })
    await expect.poll(() => viewOf(ana.room)?.table).toEqual(['ace'])
    expect(viewOf(ana.room)?.deck).toBeNull()
  })

  it('[S-STA-1] [S-STA-3] have handlers that wait, one after another, and timers', async () => {
    const ana = await enter(node.url, 'three')
    const answers = await Promise.all([1, 2].map(() => ana.connection.rpc('slow')))
    expect(answers).toEqual([2, 4].map((table) => ({ table, members: 1, map: 'green' })))
    expect(await ana.connection.rpc('text', undefined, { as: 'text' })).toBe('a text')
    expect(await ana.connection.rpc('echo', 'hi', { as: 'text' })).toBe('hi')
    await ana.connection.rpc('wait')
    await expect.poll(() => viewOf(ana.room)?.table.at(-1)).toBe('timer')
  })

  it('[R-STA-6] go on behind a reload', async () => {
    const ana = await enter(node.url, 'four')
    ana.room.send(100, { card: 'ace' })
    await expect.poll(() => viewOf(ana.room)?.table).toEqual(['ace'])
    await writeFile(join(node.folder, file), `${script}\n`)
    const restored = ['ace', 'restored with 1', 'in time']
    await expect.poll(() => viewOf(ana.room)?.table).toEqual(restored)
    expect(ana.room.own).toEqual(['ace', 'king'])
    ana.room.send(100, { card: 'king' })
    await expect.poll(() => viewOf(ana.room)?.table).toEqual([...restored, 'king'])
  })
})

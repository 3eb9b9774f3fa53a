import { describe, expect, it } from 'vitest'
import type { TickRoom } from '../../kernel/play/room-commands.ts'
import type { MatchEvent, TicketRequest } from '../../kernel/play/room-hooks.ts'
import type { OpenRoom } from '../../kernel/play/rooms.ts'
import type { ScriptCaller } from '../../kernel/play/script.ts'
import { type HarnessOptions, player, startHarness } from '../host.fixture.ts'

const script = (text: string, options: HarnessOptions = {}) =>
  startHarness({ files: { 'main.js': text }, ...options })

const room: OpenRoom = {
  room_id: 9,
  match_id: 'mt1-9',
  name: 'den',
  map: 'm',
  mode: '',
  max_players: 4,
  open: true,
  tick: true,
  listed: false,
  properties: { level: 3 },
  players: 1,
  binding: { revision_id: 'sha256:x', generation: 1 },
}

const match = {
  room_id: 9,
  match_id: 'mt1-9',
  name: null,
  map: 'm',
  mode: '',
  max_players: 0,
  open: true,
  participants: 1,
  binding: null,
}

describe('hooks of rooms', () => {
  it('[S-HK-7] [S-HK-6] on_room_create and on_room_join answer with what they return', async () => {
    const { host } = await script(`
      guildhall.on_room_create((ctx, name) => ({ map: name + ctx.sender + ctx.options.mode }))
      guildhall.on_room_join(async (ctx, room) => {
        await guildhall.session_list()
        return Object.keys(room).includes('binding') ? 'sees too much' : room.properties.level === 3
      })`)
    const call = { name: 'den', options: '{"mode":"duel"}' }
    expect(await host.game.roomCreate(player(1), call)).toEqual({
      status: 'answered',
      value: { map: 'den1duel' },
    })
    expect(await host.game.roomJoin(player(1), { room, options: '{}' })).toEqual({
      status: 'answered',
      value: true,
    })
  })

  it('[S-API-2] [S-HK-7] integers of 64 bits in properties reach hooks and come back exact', async () => {
    const seed = 2n ** 60n + 1n
    const { host } = await script(`
      guildhall.on_room_create(() => ({ properties: { seed: 2n ** 60n + 1n } }))
      guildhall.on_room_join((ctx, room) => room.properties.seed === 2n ** 60n + 1n
        && ctx.options.score === -(2n ** 63n) && ctx.options.small === 5)
      guildhall.on_matchmaker_matched(({ members }) => ({ properties: members[0].properties }))`)
    const call = { name: 'den', options: '{}' }
    expect(await host.game.roomCreate(player(1), call)).toEqual({
      status: 'answered',
      value: { properties: { seed } },
    })
    const seeded = { ...room, properties: { seed } }
    const options = '{"score":-9223372036854775808,"small":5}'
    expect(await host.game.roomJoin(player(1), { room: seeded, options })).toEqual({
      status: 'answered',
      value: true,
    })
    const matched = {
      room_id: 1,
      members: [{ user_id: 'a', participant: 1, properties: { seed } }],
    }
    expect(await host.game.matched(matched)).toEqual({
      status: 'answered',
      value: { properties: { seed } },
    })
  })

  it('[S-HK-7] an answer that is deeper than JSON may be has failed', async () => {
    const { host } = await script(`
      guildhall.on_room_create(() => {
        let value = 1
        for (let n = 0; n < 3000; n += 1) value = [value]
        return { properties: { value } }
      })`)
    const call = { name: 'den', options: '{}' }
    expect(await host.game.roomCreate(player(1), call)).toEqual({ status: 'failed' })
  })

  it('[S-HK-7] bytes are no answer: each would be a member of an object', async () => {
    const { host } = await script('guildhall.on_room_create(() => new Uint8Array())')
    const call = { name: 'den', options: '{}' }
    expect(await host.game.roomCreate(player(1), call)).toEqual({ status: 'failed' })
  })

  it('[S-HK-7] nothing answers as null, an error as failed, and no handler is absent', async () => {
    const { host } = await script(`
      guildhall.on_room_create((ctx, name) => { if (name) throw new Error('no') })`)
    const create = (name: string | null) => host.game.roomCreate(player(1), { name, options: '{}' })
    expect(await create(null)).toEqual({ status: 'answered', value: null })
    expect(await create('x')).toEqual({ status: 'failed' })
    expect(await host.game.roomJoin(player(1), { room, options: '{}' })).toEqual({
      status: 'absent',
    })
  })

  it('[S-HK-8] on_matchmaker_matched is called with the members', async () => {
    const { host } = await script(`
      guildhall.on_matchmaker_matched(({ room_id, members }) =>
        ({ mode: room_id + ':' + members.map((m) => m.user_id + m.properties.rank).join() }))`)
    const members = [{ user_id: 'ana', participant: 1, properties: { rank: 7 } }]
    expect(await host.game.matched({ room_id: 9, members })).toEqual({
      status: 'answered',
      value: { mode: '9:ana7' },
    })
  })

  it('[S-HK-9] [S-INV-2] match hooks of a room run one after another, rooms beside each other', async () => {
    const { host, rpc, until } = await script(`
      const order = []
      const handle = (name) => async (ctx) => {
        order.push(name + ctx.room_id + '>')
        if (ctx.room_id === 9 && name === 'created') await new Promise((go) => { globalThis.go = go })
        order.push('<' + name + ctx.room_id)
      }
      guildhall.on_match_created(handle('created'))
      guildhall.on_match_join(handle('join'))
      guildhall.on_match_ended(async (ctx) => { order.push(ctx.termination_reason) })
      guildhall.on_rpc('go', () => { globalThis.go(); return 'ok' })
      guildhall.on_rpc('order', () => order)`)
    let settled = 0
    const raise = (event: MatchEvent) => host.game.match(event, () => (settled += 1))
    raise({ ...match, event: 'created' })
    raise({ ...match, event: 'join', participant: 1, user_id: null, properties: null })
    raise({ ...match, room_id: 8, event: 'created' })
    raise({ ...match, event: 'started' })
    await until(() => settled === 2)
    expect(JSON.parse(String(await rpc('order')))).toEqual(['created9>', 'created8>', '<created8'])
    await rpc('go')
    raise({ ...match, event: 'ended', termination_reason: 'final_departure' })
    await until(() => settled === 5)
    expect(JSON.parse(String(await rpc('order'))).slice(3)).toEqual([
      '<created9',
      'join9>',
      '<join9',
      'final_departure',
    ])
  })

  it('[S-HK-9] match hooks are given the match as it is after the event, and what happened', async () => {
    const { host, rpc, until } = await script(`
      const seen = []
      for (const event of ['created', 'started', 'join', 'leave', 'ended']) {
        guildhall['on_match_' + event]((ctx) => { seen.push([event, ctx]) })
      }
      guildhall.on_rpc('seen', () => seen)`)
    const { binding: _, ...ctx } = { ...match, name: 'den', max_players: 4 }
    const of = { ...ctx, binding: { revision_id: 'sha256:x', generation: 1 } }
    const ana = { participant: 5, user_id: 'ana' }
    let settled = 0
    const raise = (event: MatchEvent) => host.game.match(event, () => (settled += 1))
    raise({ ...of, event: 'created', participants: 0 })
    raise({ ...of, event: 'started' })
    raise({ ...of, event: 'join', ...ana, properties: { rank: 7 } })
    raise({ ...of, event: 'join', ...ana, participant: 6, properties: null })
    raise({ ...of, event: 'leave', ...ana, open: false })
    raise({ ...of, event: 'ended', termination_reason: 'server_closed' })
    await until(() => settled === 6)
    expect(JSON.parse(String(await rpc('seen')))).toEqual([
      ['created', { ...ctx, participants: 0 }],
      ['started', ctx],
      ['join', { ...ctx, ...ana, properties: { rank: 7 } }],
      ['join', { ...ctx, ...ana, participant: 6, properties: null }],
      ['leave', { ...ctx, ...ana, open: false }],
      ['ended', { ...ctx, termination_reason: 'server_closed' }],
    ])
  })

  it('[S-HK-11] [S-INV-2] on_drop and on_return keep the order of the participant; RPCs wait for a return', async () => {
    const { host, rpc, message, until } = await script(`
      const order = []
      const slow = () => new Promise((done) => setTimeout(done, 20))
      guildhall.on_drop(async (ctx) => { await slow(); order.push('drop' + ctx.grace_ms) })
      guildhall.on_return(async (ctx) => { await slow(); order.push('return' + ctx.away_ms) })
      guildhall.on_message(100, () => { order.push('message') })
      guildhall.on_rpc('order', () => { order.push('rpc'); return order })`)
    host.game.drop(player(1), { grace_ms: 5000, away_ms: 0 })
    let returned = false
    host.game.returned(player(1), { grace_ms: 4000, away_ms: 1000 }, () => {
      returned = true
    })
    const sent = message(100)
    const order = rpc('order')
    await until(() => returned)
    await sent
    const seen: string[] = JSON.parse(String(await order))
    expect(seen.slice(0, 2)).toEqual(['drop5000', 'return1000'])
    expect(seen).toContain('rpc')
  })
})

it('[S-HK-7] [S-VIEW-3] an answer that is none counts as a handler that has failed', async () => {
  const { host, lines } = await script(`guildhall.on_room_create(() => ({ colour: 'red' }))`)
  const reason = `it returned a label with ${'colour'.repeat(200)}`.slice(0, 1024)
  host.game.misanswered('on_room_create', `${reason}, which is none`)
  expect(lines('warn')).toMatchObject([
    { message: 'a script handler failed', fields: { hook: 'on_room_create', reason } },
  ])
  expect(host.failures().items).toMatchObject([{ hook: 'on_room_create', reason, count: 1 }])
})

describe('ticks of rooms', () => {
  const ticking = (rooms: TickRoom[]) => ({
    config: { tick_hz: 50, tick_deadline_ms: 50 },
    rooms: { tickRooms: () => rooms, closeBoundRooms() {} },
  })
  const tickRoom = (room_id: number): TickRoom => {
    return { room_id, match_id: `mt1-${room_id}`, generation: null }
  }

  it('[S-HK-4] runs without a room and then in each room, and one that fails stops no other', async () => {
    const { delivered, until, lines } = await script(
      `guildhall.on_tick((dt, room) => {
        guildhall.broadcast(100, String(room))
        if (room === 2) throw new Error('room 2')
        if (room === 3) while (true) {}
      })`,
      ticking([tickRoom(1), tickRoom(2), tickRoom(3), tickRoom(4)]),
    )
    await until(() => delivered.filter(({ text }) => text === '4').length > 1)
    const first = delivered.slice(0, 3).map(({ text, room_id }) => [text, room_id])
    expect(first).toEqual([
      ['null', null],
      ['1', 1],
      ['4', 4],
    ])
    expect(lines('warn')).toMatchObject([
      { message: 'a script handler failed', fields: { hook: 'on_tick' } },
      { message: 'a script handler was interrupted at its deadline' },
      ...lines('warn').slice(2),
    ])
  })

  it('[S-HK-4] [S-WP-2] a call of a room says its room and match', async () => {
    const callers: ScriptCaller[] = []
    const { until } = await script(
      `guildhall.on_tick(async (dt, room) => { if (room) await guildhall.session_list() })`,
      {
        ...ticking([tickRoom(7)]),
        functions: {
          session_list: (caller) => {
            callers.push(caller)
            return []
          },
        },
      },
    )
    await until(() => callers.length > 0)
    expect(callers[0]).toMatchObject({ room_id: 7, match_id: 'mt1-7', participant: 0 })
  })
})

describe('commands', () => {
  it('[S-INV-4] [S-API-8] take effect with the slice, in order, with their caller; or not at all', async () => {
    const seen: unknown[] = []
    const note = (name: string) => (caller: ScriptCaller, args: unknown) => {
      seen.push([name, args, caller.room_id, caller.participant])
    }
    const { rpc } = await script(
      `guildhall.on_rpc('all', async (ctx) => {
        guildhall.topic_join('lobby', 5)
        guildhall.room_update(9, { open: false })
        await guildhall.session_list()
        guildhall.room_remove(9, 5)
        if (ctx.user_id === 'user-2') throw new Error('dropped')
        return 'ok'
      })
      guildhall.on_rpc('many', () => {
        for (let n = 0; n < 1025; n += 1) guildhall.topic_leave('lobby', n)
      })`,
      {
        functions: {
          topic_join: note('topic_join'),
          room_update: note('room_update'),
          room_remove: note('room_remove'),
          topic_leave: note('topic_leave'),
        },
      },
    )
    await rpc('all', '', player(1, { room_id: 9, match_id: 'mt1-9' }))
    expect(seen).toEqual([
      ['topic_join', { topic: 'lobby', participant: 5 }, 9, 1],
      ['room_update', { room_id: 9, label: { open: false } }, 9, 1],
      ['room_remove', { room_id: 9, participant: 5 }, 9, 1],
    ])
    await rpc('all', '', player(2))
    expect(seen.slice(3).map((entry) => String(entry).split(',')[0])).toEqual([
      'topic_join',
      'room_update',
    ])
    seen.length = 0
    expect(await rpc('many')).toEqual({ error: 'RPC handler error' })
    expect(seen).toEqual([])
  })

  it('[S-API-20] [S-API-5] a broadcast goes to a topic, and takes one scope only', async () => {
    const { rpc, delivered } = await script(`
      guildhall.on_rpc('topic', () => guildhall.broadcast(100, 'x', false, { topic: 'lobby' }))
      for (const [name, options] of Object.entries({
        a: { topic: 'x', room_id: 1 }, b: { topic: 'x', scope: 'all' }, c: { scope: 'all', room_id: 1 },
        d: { topic: '' }, e: { topic: 'x', other: 1 },
      })) guildhall.on_rpc(name, () => {
        try { guildhall.broadcast(100, 'x', false, options) } catch (error) { return error.code }
      })`)
    await rpc('topic')
    expect(delivered).toMatchObject([{ to: 'broadcast', topic: 'lobby', sender: 1, room_id: null }])
    for (const name of ['a', 'b', 'c', 'd', 'e']) expect(await rpc(name)).toBe('invalid_argument')
  })
})

describe('on_matchmaker_add', () => {
  const request: TicketRequest = {
    query: '',
    wide_query: '',
    properties: { rating: 9_007_199_254_740_993n, region: 'eu' },
    min_count: 2,
    max_count: 2,
    count_multiple: 1,
    backfill: true,
    party_id: null,
    ttl_ms: 1000,
    user_ids: ['user-1'],
  }
  const javascript = `
    guildhall.on_matchmaker_add(async (ctx, request) => {
      await guildhall.session_list()
      if (request.user_ids.length > 1) return { refuse: 'no parties for ' + ctx.user_id }
      return { ...request, query: 'region == "eu"' }
    })`
  const scripts: [string, string, NonNullable<HarnessOptions['config']>][] = [
    ['main.ts', javascript, {}],
    ['main.js', javascript, { tier: 'sandboxed' }],
    [
      'main.lua',
      `guildhall.on_matchmaker_add(function(ctx, request)
        guildhall.session_list()
        if #request.user_ids > 1 then return { refuse = "no parties for " .. ctx.user_id } end
        request.query = 'region == "eu"'
        return request
      end)`,
      {},
    ],
    [
      'main.py',
      `@guildhall.on_matchmaker_add
async def add(ctx, request):
    await guildhall.session_list()
    if len(request.user_ids) > 1:
        return {"refuse": "no parties for " + ctx.user_id}
    return {**request, "query": 'region == "eu"'}`,
      { memory_mb: 128 },
    ],
  ]

  it.each(scripts)('[R-MM-18] [S-LANG-2] answers in %s', async (file, text, config) => {
    const { host } = await startHarness({
      files: { [file]: text },
      config: { deadline_ms: 5000, ...config },
      functions: { session_list: () => [] },
    })
    const answer = await host.game.ticketAdd(player(1), request)
    const value = { query: 'region == "eu"', properties: request.properties }
    expect(answer).toMatchObject({ value })
    const refused = host.game.ticketAdd(player(1), { ...request, user_ids: ['user-1', 'user-2'] })
    const refuse = `no parties for ${player(1).user_id}`
    expect(await refused).toEqual({ status: 'answered', value: { refuse } })
  })

  it('[R-MM-18] asks nobody where the script has no such hook, and fails with the handler', async () => {
    const without = await script('guildhall.on_join(() => {})')
    expect(without.host.game.ticketAdd(player(1), request)).toBeUndefined()
    for (const [body, reason] of [
      ['throw { code: "no", gold: 5n }', 'thrown: {"code":"no","gold":"5"}'],
      ['for (;;);', undefined],
      ['guildhall.fail("no")', 'guildhall.fail: no (this handler answers by what it returns)'],
    ]) {
      const text = `guildhall.on_matchmaker_add(() => { ${body} })`
      const { host, lines } = await script(text, { config: { deadline_ms: 50 } })
      expect(await host.game.ticketAdd(player(1), request)).toEqual({ status: 'failed' })
      expect(lines('warn').at(-1)?.fields?.reason).toBe(reason)
    }
  })
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kinds, type MatchmakerMatched, sessionOptionsBody } from '@guildhall/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callMethod, type Player, playerOf } from '../../realtime/play/rooms/rooms.fixture.ts'
import { openClient, textOf, waiting } from '../../realtime/realtime.fixture.ts'
import { createCaller } from '../../testing/api.ts'
import { type NodeProcess, startNodeProcess } from '../../testing/node-process.ts'

const script = `
const heard = []
let ticked = false
guildhall.on_rpc('heard', () => heard)
guildhall.on_rpc('ticked', () => ticked)
guildhall.on_room_create((ctx, name) =>
  name === 'no' ? { refuse: 'not here' } : { map: ctx.options.map, mode: 'm', max_players: 4 })
guildhall.on_room_join((ctx, room) => ctx.options.key === 'open' || 'locked: ' + room.map)
guildhall.on_matchmaker_matched(({ members }) => ({ map: 'duel', max_players: members.length }))
for (const event of ['created', 'started', 'join', 'leave', 'ended']) {
  guildhall['on_match_' + event]((ctx) => heard.push(
    [event, ctx.room_id, ctx.participants, ctx.termination_reason].filter((part) => part !== undefined).join(' ')))
}
guildhall.on_drop((ctx) => heard.push('drop ' + ctx.username))
guildhall.on_return((ctx) => heard.push('return ' + ctx.username))
guildhall.on_leave((ctx) => heard.push('gone ' + (ctx.username ?? 'guest')))
guildhall.on_tick((dt, room_id) => { if (room_id === 1 && dt > 0) ticked = true })
guildhall.on_rpc('look', async (ctx, body) => {
  const { room_id, user_ids } = guildhall.json.decode(body)
  const { session_list, room_list, room_members, online } = guildhall
  const [sessions, online_ids] = [await session_list(), await online(user_ids)]
  const rooms = await room_list()
  const members = [await room_members(room_id), await room_members(room_id + 1000)]
  return { sessions, room: rooms.find((room) => room.room_id === room_id), members, online_ids }
})
guildhall.on_rpc('topic', (ctx, body) => {
  const { join } = guildhall.json.decode(body)
  join ? guildhall.topic_join('news', ctx.sender) : guildhall.topic_leave('news', ctx.sender)
  return true
})
guildhall.on_rpc('news', () => {
  guildhall.broadcast(101, 'news', false, { topic: 'news' })
  return true
})
guildhall.on_rpc('remove', (ctx, body) => {
  const { room_id, participant } = guildhall.json.decode(body)
  guildhall.room_remove(room_id, participant)
  return true
})
guildhall.on_message(100, (ctx, body) => {
  guildhall.room_update(ctx.room_id, { mode: 'late' })
  guildhall.broadcast(100, body)
})
`

let folder: string
let node: NodeProcess

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'guildhall-rooms-'))
  writeFileSync(join(folder, 'main.ts'), script)
  node = await startNodeProcess({
    'runtime.scripts_dir': folder,
    'runtime.tick_hz': '20',
    'rooms.reconnect_grace_ms': '60000',
  })
})

afterAll(async () => {
  await node.stop()
  rmSync(folder, { recursive: true })
})

async function signUp(username: string): Promise<string> {
  const answer = await createCaller(node.url)('POST', '/v1/auth/device', {
    body: { id: `device-${username}`, create: true, username },
  })
  const { token } = answer.body as { token: string }
  return token
}

/** Connects with a token, or as a guest without one, and asks for presence with names. */
async function connect(token = ''): Promise<Player> {
  const client = playerOf(await openClient(Number(new URL(node.url).port)))
  client.send(kinds.AUTH.first, token)
  client.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: 9 }))
  await client.lines(2)
  return client
}

const heard = async (client: Player) => (await callMethod(client, 'heard', '')) as string[]

test('[S-HK-6, S-HK-7, S-HK-8, S-HK-9, S-HK-11] every hook of rooms runs in the order of events', async () => {
  const tokens = { ann: await signUp('ann'), bob: await signUp('bob') }
  const ann = await connect(tokens.ann)
  let bob = await connect(tokens.bob)
  ann.enter({ mode: 'create', name: 'no', options: '' })
  expect(await ann.line()).toBe('rejected 48 not here')
  ann.enter({ mode: 'create', name: 'den', options: '{"map":"arena"}' })
  expect(await ann.lines(2)).toMatchObject(['joined 1 arena/m', /^v2 snapshot 1/])
  bob.joinRoom(1)
  expect(await bob.line()).toBe('rejected 22 locked: arena')
  bob.enter({ mode: 'join', room_id: 1, options: '{"key":"open"}' })
  expect((await bob.lines(2))[0]).toBe('joined 1 arena/m')
  expect(await ann.line()).toMatch(/^v2 joined 1 2:/)
  bob.send(100, 'hi')
  expect(await ann.line()).toBe('kind 100 hi')
  bob.end()
  expect(await ann.line()).toMatch(/^v2 dropped 1 2:/)
  bob = playerOf(await openClient(Number(new URL(node.url).port)))
  bob.send(kinds.AUTH.first, tokens.bob)
  expect((await bob.lines(2))[1]).toBe('joined 1 arena/late')
  expect(await ann.line()).toMatch(/^v2 returned 1 2:/)
  await expect.poll(() => callMethod(bob, 'ticked', ''), waiting).toBe(true)
  bob.leave()
  expect(await bob.line()).toBe('left 1')
  ann.leave()
  await expect
    .poll(() => heard(bob), waiting)
    .toEqual([
      'created 1 0',
      'started 1 1',
      'join 1 1',
      'join 1 2',
      'drop bob',
      'return bob',
      'leave 1 1',
      'leave 1 0',
      'ended 1 0 final_departure',
    ])
})

test('[S-API-7, S-API-8, S-API-20, S-API-21] the script sees who is where, and changes it', async () => {
  const [dan, eve, fay] = [await connect(await signUp('dan')), await connect(), await connect()]
  dan.enter({ mode: 'create', name: 'lair', options: '{"map":"cave"}' })
  const [joined = ''] = await dan.lines(2)
  const room_id = Number(/^joined (\d+)/.exec(joined)?.[1])
  eve.enter({ mode: 'join', room_id, options: '{"key":"open"}' })
  await eve.lines(2)
  const [, participant] = /^v2 joined \d+ (\d+)$/.exec(await dan.line()) ?? []
  const guest = { participant: Number(participant), user_id: null, username: null }

  const seen = (user_ids: string[]) => callMethod(fay, 'look', { room_id, user_ids })
  const { members } = (await seen([])) as { members: { user_id: string | null }[][] }
  const danId = members[0]?.[0]?.user_id ?? ''
  const danRow = { participant: guest.participant - 1, user_id: danId, username: 'dan' }
  expect(await seen(['nobody', danId])).toEqual({
    sessions: expect.arrayContaining([
      { ...danRow, room_id },
      { ...guest, room_id },
    ]),
    room: {
      room_id,
      match_id: expect.stringMatching(/^mt1-/),
      name: 'lair',
      ...{ map: 'cave', mode: 'm', max_players: 4, open: true, tick: true, listed: false },
      properties: {},
      players: 2,
    },
    members: [[danRow, guest].map((row) => ({ ...row, connected: true })), []],
    online_ids: [danId],
  })

  await callMethod(dan, 'topic', { join: true })
  await callMethod(fay, 'news', {})
  expect(await dan.line()).toBe('kind 101 news')
  await callMethod(dan, 'topic', { join: false })
  await callMethod(fay, 'news', {})
  await callMethod(fay, 'remove', { room_id, participant: danRow.participant })
  expect(await dan.lines(2)).toEqual([
    `closed ${room_id} 0 false`,
    `v2 left ${room_id} ${danRow.participant}:${danId}:dan:removed`,
  ])
  for (const player of [dan, eve, fay]) player.end()
})

test('[S-API-37] a room ends by itself when the script has taken the last member out', async () => {
  const [gil, hal] = [await connect(), await connect()]
  gil.enter({ mode: 'create', name: 'hole', options: '{"map":"cave"}' })
  const [joined = ''] = await gil.lines(2)
  const room_id = Number(/^joined (\d+)/.exec(joined)?.[1])
  const seen = async () =>
    (await callMethod(hal, 'look', { room_id, user_ids: [] })) as {
      room?: object
      sessions: { participant: number; room_id: number | null }[]
    }
  const { sessions } = await seen()
  const member = sessions.find((session) => session.room_id === room_id)
  await callMethod(hal, 'remove', { room_id, participant: member?.participant })
  expect(await gil.line()).toBe(`closed ${room_id} 0 false`)
  await expect.poll(async () => (await seen()).room, waiting).toBeUndefined()
  await expect.poll(() => heard(hal), waiting).toContain(`ended ${room_id} 0 final_departure`)
  for (const player of [gil, hal]) player.end()
})

test('[R-MM-10, R-MM-12, S-HK-8] the matchmaker makes a room with the label of the script', async () => {
  const [one, two] = [await connect(), await connect()]
  for (const guest of [one, two]) await callMethod(guest, 'matchmaker.add', {})
  for (const guest of [one, two]) {
    const { kind, body } = await guest.next()
    expect(kind).toBe(kinds.MATCHMAKER_MATCHED.first)
    const { ticket_id, join_token, match_id }: MatchmakerMatched = JSON.parse(textOf(body))
    const reply = await callMethod(guest, 'matchmaker.accept', { ticket_id, join_token })
    expect(reply).toEqual({ accepted: true, match_id })
    expect(await guest.line()).toBe(`joined ${match_id} duel/matchmaker`)
    await guest.line()
    guest.end()
  }
})

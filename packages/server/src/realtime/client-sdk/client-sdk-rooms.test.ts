import { randomUUID } from 'node:crypto'
import { type Connection, createPlayer, type HostClock, type StateEvent } from '@guildhall/client'
import { expect, it, vi } from 'vitest'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import type { Clock } from '../../kernel/clock.ts'
import { serveForSdk } from './sdk-node.fixture.ts'

/** Rooms of the SDK at a real node, over a line that a test can cut. */

const script = `
guildhall.on_room_create((ctx, name) => {
  if (ctx.options.refuse) return { refuse: 'not today' }
  return { map: 'hall', mode: String(ctx.options.mode ?? 'ffa'), max_players: 2, listed: true }
})
guildhall.on_match_join(({ participant }) => guildhall.send(participant, 101, 'welcome'))
guildhall.on_message(100, (ctx, body) => guildhall.broadcast(100, body))
guildhall.on_rpc('echo', (ctx, body) => body)
guildhall.on_return((ctx) => guildhall.send(ctx.sender, 101, 'back'))
`

const node = serveForSdk(script, {
  'rooms.reconnect_grace_ms': '30000',
})

/** With `overLine` the connection alone goes over the line: requests keep sockets of their own. */
async function signedIn(
  name: string,
  { overLine = false, clock }: { overLine?: boolean; clock?: Clock } = {},
): Promise<Connection> {
  const player = createPlayer(node.url, clock === undefined ? {} : { clock: clientClock(clock) })
  const username = `${name}-${randomUUID()}`
  await player.signIn.device({ id: username, create: true, username })
  const url = `${node.line.url.replace('http', 'ws')}/v1/realtime`
  return player.connect({ reconnect: { baseMs: 10 }, ...(overLine ? { url } : {}) })
}

function clientClock(clock: Clock): HostClock {
  return {
    nowMs: () => clock.nowUnixMs(),
    monotonicMs: () => clock.monotonicMs(),
    startTimer(ms, run) {
      const timer = clock.after(ms, run)
      return () => timer.cancel()
    },
  }
}

it('[R-SDK-23] makes, finds, joins and leaves rooms at a real node', async () => {
  const ana = await signedIn('ana')
  const ben = await signedIn('ben')
  const name = randomUUID()
  const room = await ana.rooms.create(name, { mode: 'duel' })
  expect(room).toMatchObject({ map: 'hall', mode: 'duel' })
  const welcomed = new Promise<string>((resolve) =>
    room.on(101, (message) => resolve(message.text())),
  )
  expect(await welcomed).toBe('welcome')
  await expect(ben.rooms.create(name)).rejects.toMatchObject({ message: 'room name taken' })
  await expect(ben.rooms.create(null, { refuse: true })).rejects.toMatchObject({
    code: 'room_refused',
    message: 'not today',
  })
  const { rooms } = await ben.rooms.list({ filter: `name == '${name}'` })
  expect(rooms).toMatchObject([{ id: room.id, players: 1, max_players: 2 }])

  const joined = new Promise((resolve) => room.on('join', resolve))
  const bens = await ben.rooms.joinOrCreate(name)
  expect(bens.id).toBe(room.id)
  expect(await joined).toMatchObject({ participant: ben.participant, user_id: ben.userId })
  await vi.waitFor(() => expect(bens.members.size).toBe(2))
  const cleo = await signedIn('cleo')
  await expect(cleo.rooms.join(room.id)).rejects.toMatchObject({ message: 'room is full' })
  const heard = new Promise<string>((resolve) => bens.on(100, (message) => resolve(message.text())))
  room.send(100, 'hi ben')
  expect(await heard).toBe('hi ben')

  const left = new Promise((resolve) => room.on('leave', (_member, why) => resolve(why)))
  const ended = new Promise((resolve) => bens.on('closed', resolve))
  const next = await ben.rooms.joinOrCreate(randomUUID())
  expect(await ended).toEqual({ reason: 'moved', requeue: false })
  expect(await left).toBe('left')
  expect(ben.rooms.current).toBe(next)
  await ben.rooms.leave()
  expect(ben.rooms.current).toBe(null)
  await Promise.all([ana.close(), ben.close(), cleo.close()])
})

it('[R-SDK-11] [R-SDK-23] a cut line resumes the seat, the room and what waited', async () => {
  const ana = await signedIn('ana', { overLine: true })
  const ben = await signedIn('ben')
  const room = await ana.rooms.joinOrCreate(randomUUID())
  const bens = await ben.rooms.join(room.id)
  const dropped = new Promise((resolve) => bens.on('drop', resolve))
  const returned = new Promise((resolve) => bens.on('return', resolve))
  const heard = new Promise<string>((resolve) => bens.on(100, (message) => resolve(message.text())))
  const states: StateEvent[] = []
  ana.on('state', (event) => states.push(event))
  const back = new Promise<string>((resolve) => {
    room.on(101, (message) => message.text() === 'back' && resolve('back'))
  })
  node.line.cut()
  await vi.waitFor(() => expect(ana.state).toBe('reconnecting'))
  room.send(100, 'from the dark')
  expect(await dropped).toMatchObject({ participant: ana.participant, connected: false })
  node.line.mend()
  expect(await returned).toMatchObject({ participant: ana.participant, connected: true })
  expect(await back).toBe('back')
  expect(await heard).toBe('from the dark')
  expect(states.at(-1)).toEqual({ state: 'open', resumed: true, dropped: 0, lastClose: null })
  expect(ana.rooms.current).toBe(room)
  await Promise.all([ana.close(), ben.close()])
})

it('[R-SDK-25] a connection cut without a packet is reconnecting after 15 s, and resumes its seat', async () => {
  const clock = createFakeClock()
  const ana = await signedIn('ana', { overLine: true, clock })
  const room = await ana.rooms.joinOrCreate(randomUUID())
  const states: StateEvent[] = []
  ana.on('state', (event) => states.push(event))
  // Three samples of the time, and the answers to them.
  for (const ms of [600, 600]) {
    await vi.waitFor(() => expect(ana.serverNow()).not.toBe(null))
    await clock.advance(ms)
  }
  expect(await ana.rpc('echo', 'still here', { as: 'text' })).toBe('still here')
  node.line.swallow()
  await clock.advance(10_000)
  expect(ana.state).toBe('open')
  await clock.advance(5_000)
  expect(states).toMatchObject([{ state: 'reconnecting', closeCode: 1006 }])
  await clock.advance(10)
  await vi.waitFor(() => expect(ana.state).toBe('open'))
  expect(states.at(-1)).toEqual({ state: 'open', resumed: true, dropped: 0, lastClose: null })
  expect(ana.rooms.current).toBe(room)
  expect(await ana.rpc('echo', 'again', { as: 'text' })).toBe('again')
  await ana.close()
})

it('[R-SDK-25] reconnect keeps the seat at a real node', async () => {
  const ana = await signedIn('ana')
  const room = await ana.rooms.joinOrCreate(randomUUID())
  const { participant } = ana
  await ana.reconnect()
  expect([ana.participant, ana.rooms.current]).toEqual([participant, room])
  await ana.close()
})

it('[R-SDK-21] [R-SDK-23] knows the time of a real node', async () => {
  const ana = await signedIn('ana')
  await vi.waitFor(() => expect(ana.serverNow()).not.toBe(null))
  expect(Math.abs((ana.serverNow() ?? 0) - Date.now())).toBeLessThan(2_000)
  expect(ana.serverTimeUncertaintyMs).toBeLessThan(2_000)
  await ana.close()
})

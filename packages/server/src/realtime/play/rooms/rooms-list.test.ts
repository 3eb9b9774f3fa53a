import { afterEach, expect, test } from 'vitest'
import type { Label } from '../../../kernel/play/rooms.ts'
import { type RealtimeFixture, startRealtime } from '../../realtime.fixture.ts'
import { callMethod, joinAll, type Player } from './rooms.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

const list = (client: Player | undefined, payload: unknown) => {
  if (client === undefined) throw new Error('no client')
  return callMethod(client, 'rooms.list', payload)
}

/** One room per label, each with a guest in it; the last guest is in none. */
async function startWith(labels: Partial<Label>[]): Promise<Player | undefined> {
  realtime = await startRealtime()
  const guests = await joinAll(realtime, labels.length + 1)
  for (const [index, label] of labels.entries()) {
    realtime.script.onRoomCreate = () => ({ status: 'answered', value: label })
    guests[index]?.create(`r${index}`)
    await guests[index]?.line()
  }
  return guests.at(-1)
}

test('[R-PRP-2] shows what scripts listed and left open, full ones too, by id', async () => {
  const guest = await startWith([
    { listed: true, mode: 'ffa', max_players: 1, properties: { elo: 3 } },
    { listed: false },
    { listed: true, open: false },
    { listed: true },
  ])
  const first = {
    id: 1,
    name: 'r0',
    map: 'r0',
    mode: 'ffa',
    players: 1,
    max_players: 1,
    properties: { elo: 3 },
  }
  const last = { ...first, id: 4, name: 'r3', map: 'r3', mode: '', max_players: 0, properties: {} }
  expect(await list(guest, {})).toEqual({ rooms: [first, last] })
  expect(await list(guest, { limit: 1 })).toEqual({ rooms: [first], next_after: 1 })
  expect(await list(guest, { after: 1 })).toEqual({ rooms: [last] })
})

test('[R-PRP-3] the filter reads properties, and the row where they lack the name', async () => {
  const guest = await startWith([
    { listed: true, properties: { elo: 10, players: 99 } },
    { listed: true, mode: 'ffa', properties: { elo: 20 } },
  ])
  const ids = async (filter: string) => {
    await realtime.clock.advance(1000)
    const page = (await list(guest, { filter })) as { rooms: { id: number }[] }
    return page.rooms.map(({ id }) => id)
  }
  expect(await ids('elo >= 20')).toEqual([2])
  expect(await ids('players == 1 and mode == "ffa"')).toEqual([2])
  expect(await ids('players == 99')).toEqual([1])
  expect(await ids('name == "r0" or map == "r1"')).toEqual([1, 2])
  expect(await ids('constructor != "x" or id > 0')).toEqual([])
})

test('[R-PRP-1] integers of 64 bits are shown, and asked for like any number', async () => {
  const guest = await startWith([{ listed: true, properties: { seed: 2n ** 60n } }])
  expect(await list(guest, { filter: 'seed > 5' })).toMatchObject({
    rooms: [{ properties: { seed: 2 ** 60 } }],
  })
})

test('[R-PRP-2] what is no such payload is refused with its own text', async () => {
  const guest = await startWith([])
  const refusals: [unknown, string][] = [
    ['', 'invalid JSON body'],
    ['[]', 'invalid JSON body'],
    [{ filters: '' }, 'invalid JSON body'],
    [{ filter: 7 }, 'invalid query: it is no text'],
    [{ filter: null }, 'invalid query: it is no text'],
    [{ filter: 'a = 1' }, 'invalid query: there is no sign, name, number or text at character 3'],
    [{ limit: 0 }, 'invalid limit'],
    [{ limit: 101 }, 'invalid limit'],
    [{ limit: '1' }, 'invalid limit'],
    [{ after: -1 }, 'invalid limit'],
    [{ after: 0.5 }, 'invalid limit'],
  ]
  for (const [payload, text] of refusals) expect(await list(guest, payload)).toBe(text)
  realtime.script.isGateOpen = false
  expect(await list(guest, {})).toBe('game script unavailable')
})

test('[R-PRP-4] a connection has 5 calls and regains one per second', async () => {
  const guest = await startWith([])
  for (let count = 0; count < 5; count += 1) expect(await list(guest, {})).toEqual({ rooms: [] })
  expect(await list(guest, {})).toBe('too many requests')
  await realtime.clock.advance(999)
  expect(await list(guest, {})).toBe('too many requests')
  await realtime.clock.advance(1)
  expect(await list(guest, {})).toEqual({ rooms: [] })
})

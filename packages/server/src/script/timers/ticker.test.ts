import { expect, it } from 'vitest'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import type { TickRoom } from '../../kernel/play/room-commands.ts'
import type { NewCall } from '../calls.ts'
import { createInbox } from '../inbox.ts'
import { tickBody } from '../wire/call-records.ts'
import { createTicker } from './ticker.ts'

type Tick = NewCall

/** Ticks at 10 Hz, whose calls settle when the test says so. */
function start(rooms: TickRoom[] = []) {
  const clock = createFakeClock()
  const inbox = createInbox({ inbox_calls: 1, inbox_bytes: 100 })
  const metrics = { ticks: 0, ticksSkipped: 0 }
  const calls: Tick[] = []
  const call = (tick: Tick) => void calls.push(tick)
  const router = { inbox, call, active: undefined, former: undefined }
  const state = { serves: true }
  const wanted = () => state.serves
  const ticker = createTicker({ config: { tick_hz: 10 }, clock, router, metrics, wanted })
  ticker.start(() => rooms)
  return { clock, inbox, metrics, calls, state, dts: () => calls.map(({ detail }) => detail) }
}

const settle = (tick: Tick | undefined) => tick?.settle({ status: 'ok', reply: new Uint8Array() })

it('[S-HK-4] skips and counts a tick while the previous one runs, and the next dt covers it', async () => {
  const { clock, metrics, calls, dts } = start()
  await clock.advance(100)
  await clock.advance(200)
  expect([dts(), metrics]).toEqual([[0.1], { ticks: 1, ticksSkipped: 2 }])
  settle(calls[0])
  await clock.advance(100)
  settle(calls[1])
  await clock.advance(100)
  expect([dts(), metrics]).toEqual([[0.1, 0.3, 0.1], { ticks: 3, ticksSkipped: 2 }])
})

it('[S-WP-6] skips ticks while the inbox is full, and none without a script that ticks', async () => {
  const { clock, inbox, metrics, calls, state } = start()
  inbox.add(1)
  await clock.advance(300)
  expect([calls.length, metrics.ticksSkipped]).toEqual([0, 3])
  inbox.remove(1)
  state.serves = false
  await clock.advance(1000)
  expect([calls.length, metrics.ticksSkipped]).toEqual([0, 3])
  state.serves = true
  await clock.advance(100)
  expect(calls.map(({ detail }) => detail)).toEqual([0.1])
})

it('[S-HK-4] makes more calls for more than 16,384 rooms, all with one dt', async () => {
  const rooms = Array.from({ length: 40_000 }, (_, index) => {
    return { room_id: index + 1, match_id: 'mt1-0', generation: null }
  })
  const { clock, calls, metrics, dts } = start(rooms)
  await clock.advance(100)
  const ids = rooms.map(({ room_id }) => room_id)
  expect(calls.map(({ body }) => body)).toEqual([
    tickBody([null, ...ids.slice(0, 16_384)]),
    tickBody(ids.slice(16_384, 32_768)),
    tickBody(ids.slice(32_768)),
  ])
  expect(dts()).toEqual([0.1, 0.1, 0.1])
  for (const tick of calls.slice(0, 2)) settle(tick)
  await clock.advance(100)
  expect([calls.length, metrics]).toEqual([3, { ticks: 1, ticksSkipped: 1 }])
})

/** Rooms of a definition at 20 Hz; a call of several uses so much, or that of the first. */
function startDefined(count = 32) {
  const all = Array.from({ length: count }, (_, index): TickRoom => {
    return { room_id: index + 1, match_id: 'mt1-0', generation: null, definition: 'race' }
  })
  const rooms = { all }
  const clock = createFakeClock()
  const calls: {
    atMs: number
    rooms: number[]
    dt: number
    generation: number | null | undefined
  }[] = []
  const startMs = clock.monotonicMs()
  const uses = { cpuUs: 1_500, first: 0 }
  const router: Parameters<typeof createTicker>[0]['router'] = {
    inbox: createInbox({ inbox_calls: 1000, inbox_bytes: 10_000 }),
    call: ({ rooms: due = [], detail = 0, generation, settle }) => {
      const ids = due.map(({ room_id }) => room_id)
      calls.push({ atMs: clock.monotonicMs() - startMs, rooms: ids, dt: detail, generation })
      settle({
        status: 'ok',
        reply: new Uint8Array(),
        cpuUs: ids[0] === 1 && uses.first > 0 ? uses.first : uses.cpuUs,
      })
    },
    active: { identity: { generation: 1 } } as never,
    former: undefined,
  }
  const metrics = { ticks: 0, ticksSkipped: 0 }
  const wanted = () => false
  const ticker = createTicker({ config: { tick_hz: 0 }, clock, router, metrics, wanted })
  ticker.start(() => rooms.all)
  const define = (tick_hz: number) => {
    ticker.define([{ name: 'race', tick_hz, kinds: [], methods: [] }])
  }
  define(20)
  /** At how many moments of the last interval groups ticked, when so much is used for a time. */
  const moments = async (cpuUs: number) => {
    uses.cpuUs = cpuUs
    await clock.advance(4_000)
    const endMs = calls.at(-1)?.atMs ?? 0
    return new Set(calls.flatMap(({ atMs }) => (atMs > endMs - 49 ? [atMs] : []))).size
  }
  return { clock, calls, uses, moments, rooms, router, define }
}

it('[R-STA-2] rooms of one definition are spread over the interval, at an even pace', async () => {
  const { clock, calls } = startDefined()
  await clock.advance(99)
  expect(calls.map(({ atMs }) => atMs)).toEqual(
    Array.from({ length: 16 }, (_, group) => 50 + group * 3.125),
  )
  expect(calls.map(({ rooms: [first, second] }) => [first, second])).toEqual(
    Array.from({ length: 16 }, (_, group) => [group || 16, (group || 16) + 16]),
  )
  await clock.advance(1_000)
  expect(calls.slice(16).map(({ dt }) => dt)).toEqual(Array(16 * 20).fill(0.05))
})

it('[R-STA-2] groups whose ticks are short begin at two moments at least, and no time is lost', async () => {
  const { calls, uses, moments } = startDefined()
  expect([await moments(1_500), await moments(100), await moments(10_000)]).toEqual([16, 2, 16])
  // No other group waits for one that is slow.
  uses.first = 9_000
  expect(await moments(100)).toBe(16)
  for (let room = 1; room <= 16; room += 1) {
    const own = calls.filter(({ rooms }) => rooms[0] === room)
    const seconds = own.reduce((sum, { dt }) => sum + dt, 0)
    expect(1000 * seconds).toBeCloseTo((own.at(-1)?.atMs ?? 0) - (own[0]?.atMs ?? 0) + 50)
  }
})

it.each([
  [32, 2],
  [100, 8],
  [200, 16],
])('[R-STA-2] of %i rooms with short ticks at most 16 begin at once', async (count, expected) => {
  expect(await startDefined(count).moments(100)).toBe(expected)
})

it('[R-STA-2] rooms that have ended do not keep those that are left apart', async () => {
  const { moments, rooms } = startDefined(300)
  expect(await moments(100)).toBe(16)
  // None in the last groups.
  rooms.all = rooms.all.slice(0, 12)
  expect(await moments(100)).toBe(2)
})

it('[R-STA-2] [S-REL-4] every room goes on to tick when a reload has changed its rate', async () => {
  const { clock, calls, define } = startDefined()
  await clock.advance(200)
  for (const [hz, groups] of [[60, 5] as const, [20, 16] as const]) {
    define(hz)
    calls.length = 0
    // The first tick of each group.
    await clock.advance(2000 / hz - 1)
    expect(calls).toHaveLength(groups)
    const ids = calls.flatMap((call) => call.rooms).sort((a, b) => a - b)
    expect(ids).toEqual(Array.from({ length: 32 }, (_, n) => n + 1))
  }
})

it('[S-REL-6] rooms that keep to their script tick at the rate that it has, until it ends', async () => {
  const { clock, calls, rooms, router, define } = startDefined()
  const succeed = (hz: number, generation: number) => {
    define(hz)
    const former = { identity: { generation: generation - 1 } }
    Object.assign(router, { active: { identity: { generation } }, former })
    const made = { room_id: 100 * generation, match_id: 'mt1-0', generation, definition: 'race' }
    rooms.all = [...rooms.all.filter((room) => room.generation === generation - 1), made]
  }
  /** How often a room ticks in a second, and by which script. */
  const rate = async (room: number) => {
    calls.length = 0
    await clock.advance(1_000)
    const own = calls.filter((call) => call.rooms.includes(room))
    return [own.length, new Set(own.map(({ generation }) => generation))]
  }
  rooms.all = rooms.all.map((room) => ({ ...room, generation: 1 }))
  await clock.advance(100)
  succeed(60, 2)
  expect([await rate(7), await rate(200)]).toEqual([
    [20, new Set([1])],
    [60, new Set([null])],
  ])
  succeed(0, 3)
  expect([await rate(7), await rate(200), await rate(300)]).toEqual([
    [0, new Set()],
    [60, new Set([2])],
    [0, new Set()],
  ])
  // The ticker sees by itself that the script has ended.
  Object.assign(router, { former: undefined })
  await clock.advance(100)
  expect(await rate(200)).toEqual([0, new Set()])
})

it('[S-REL-6] [S-HK-4] where all rooms of a group keep to their script, the new one has no tick', async () => {
  const { clock, calls, rooms, router, define } = startDefined()
  rooms.all = rooms.all.map((room) => ({ ...room, generation: 1 }))
  // Also where the new script has no such ticks; without a room nothing is due.
  define(0)
  Object.assign(router, {
    former: { identity: { generation: 1 } },
    active: { identity: { generation: 2 } },
  })
  await clock.advance(99)
  expect(calls.map((call) => call.rooms.length)).toEqual(Array(16).fill(2))
  rooms.all = [{ room_id: 1, match_id: 'mt1-0', generation: null, definition: 'race' }]
  await clock.advance(50)
  expect(calls).toHaveLength(16)
})

it('[S-REL-6] rooms tick on while the script that has replaced theirs is down', async () => {
  const { clock, calls, rooms, router, define } = startDefined()
  rooms.all = rooms.all.map((room) => ({ ...room, generation: 1 }))
  define(20)
  Object.assign(router, { active: undefined, former: { identity: { generation: 1 } } })
  await clock.advance(99)
  expect(calls.map(({ generation }) => generation)).toEqual(Array(16).fill(1))
  Object.assign(router, { former: undefined })
  await clock.advance(99)
  expect(calls).toHaveLength(16)
})

it('[S-REL-6] and while it runs its on_start, of which the tick of the others makes up', async () => {
  const { clock, calls, rooms, router, define } = startDefined()
  define(20)
  rooms.all = [1, 2].map((room_id) => {
    return { room_id, match_id: 'mt1-0', generation: room_id, definition: 'race' }
  })
  const active = { identity: { generation: 2 }, isHeld: true }
  Object.assign(router, { active, former: { identity: { generation: 1 } } })
  const ticked = async (room: number) => {
    calls.length = 0
    await clock.advance(200)
    return calls.filter((call) => call.rooms.includes(room)).map(({ dt }) => Math.round(100 * dt))
  }
  expect([await ticked(1), await ticked(2)]).toEqual([[5, 5, 5], []])
  active.isHeld = false
  expect(await ticked(2)).toEqual([40, 5, 5, 5])
})

import { expect, it } from 'vitest'
import type { MatchEvent, StateRoomIdentity } from '../../kernel/play/room-hooks.ts'
import type { ScriptConfig } from '../config.ts'
import { player, startHarness } from '../host.fixture.ts'

/** The worker reads `slow` as a state twice: when a slice has ended, and to give it to the node. */
const script = `
let ms = 0
function slow() {
  let reads = 0
  return Object.freeze({
    get ms() {
      reads += 1
      const endMs = performance.now() + (reads === 2 ? ms : 0)
      while (performance.now() < endMs);
      return ms
    },
  })
}
guildhall.room('den', {
  create: () => ({ n: 0, slow: null }),
  async restore(state) {
    await new Promise((go) => setTimeout(go, 50))
    return state
  },
  message: {
    100(ctx, body, room) {
      ms = Number(new TextDecoder().decode(body))
      room.state.n += 1
      room.state.slow = slow()
      room.broadcast(101, String(room.state.n))
    },
  },
  rpc: {
    n: (ctx, body, room) => String(room.state.n),
    later(ctx, body, room) {
      for (let n = 0; n < 16; n += 1) guildhall.cancel(room.after(40, () => {}))
      room.after(40, () => guildhall.broadcast(102, 'of the room'))
      guildhall.after(50, () => guildhall.broadcast(103, 'of the script'))
    },
    async add(ctx, body, room) {
      room.state.n += 1
      await guildhall.session_list()
    },
    async addInVain(ctx, body, room) {
      room.state.n += 1
      throw new Error('no')
    },
  },
  ended() { throw new Error('no result') },
})
guildhall.on_rpc('refuse', () => guildhall.fail('no'))
guildhall.on_rpc('look', () => 'nothing')`

/** Counts how often its state is read. */
const counted = `
let reads = 0
let wake
let kept
const woken = () => new Promise((go) => { wake = go })
guildhall.room('den', {
  create: () => ({ counted: null }),
  rpc: {
    async wait(ctx, body, room) {
      kept = room.state
      kept.counted = { get n() { reads += 1; return reads } }
      await woken()
      kept.woken = true
      await woken()
    },
  },
})
guildhall.on_rpc('wake', () => wake())
guildhall.on_rpc('touch', () => { kept.touched = (kept.touched ?? 0) + 1 })
guildhall.on_rpc('reads', () => String(reads))`

/** Its state is made when nobody waits for it any more. */
const lateMade = `
let wake
let said
guildhall.room('den', {
  async create() {
    await new Promise((go) => { wake = go })
    try { guildhall.broadcast(101, 'late') } catch (error) { said = error.code }
    return { state: { n: 1 }, label: { properties: { late: true } } }
  },
  rpc: { n: (ctx, body, room) => String(room.state.n) },
})
guildhall.on_rpc('wake', () => wake())
guildhall.on_rpc('said', () => said)`

type Served = Partial<Pick<ScriptConfig, 'tier' | 'call_timeout_ms' | 'hand_over_ms'>>

async function serve(text = script, served: Served = {}) {
  const saved: number[] = []
  const states = new Map<number, string>()
  const rooms = new Map<number, StateRoomIdentity>()
  const harness = await startHarness({
    files: { 'main.js': text },
    config: { deadline_ms: 500, ...served },
    states: {
      saveState({ room_id, text }) {
        saved.push(room_id)
        states.set(room_id, text)
      },
      keptRooms: () =>
        Array.from(rooms.values(), (room) => {
          return { ...room, members: [], state: states.get(room.room_id) ?? 'null', seq: 0 }
        }),
    },
  })
  const { host, message } = harness
  async function enter(room_id: number) {
    const label = { map: '', mode: 'den', max_players: 0, open: true, tick: false, listed: false }
    const identity = { definition: 'den', room_id, match_id: `m${room_id}`, name: null }
    const room = { ...identity, label: { ...label, properties: {} } }
    const about = player(room_id, { room_id })
    const made = await host.game.stateCreate(about, { room, options: 'null' })
    rooms.set(room_id, room)
    const end = () => {
      rooms.delete(room_id)
      const match = { ...{ room_id, match_id: `m${room_id}`, name: null }, map: '', mode: 'den' }
      const more = { max_players: 0, open: true, participants: 0, binding: null }
      const termination_reason = 'final_departure'
      host.game.match(
        { event: 'ended', ...match, ...more, termination_reason } as MatchEvent,
        () => {},
      )
    }
    return { made, about, end, spend: (ms: number) => message(100, String(ms), about) }
  }
  return { ...harness, saved, states, enter }
}

it('[S-STA-2] [S-LIM-1] an interrupt behind a slice that has held costs nothing of it', async () => {
  const { enter, clock, delivered, rpc, saved, until } = await serve()
  const { about, spend } = await enter(5)
  // The node gets the next one a second later at the earliest: with the slice.
  await clock.sleep(1_050)
  expect(saved).toEqual([5])
  expect(await spend(60_000)).toBe('ok')
  expect(delivered.map(({ text }) => text)).toEqual(['1'])
  expect(await rpc('n', '', about)).toBe('1')
  await until(() => saved.length === 2)
})

it('[S-STA-1] [S-STA-2] what else runs for a room neither ends nor undoes a slice that waits', async () => {
  const { enter, rpc } = await serve()
  const { about } = await enter(5)
  const together = (...methods: string[]) =>
    Promise.all(methods.map((method) => rpc(method, '', about)))
  expect(await together('add', 'refuse')).toEqual(['', { error: 'no' }])
  expect(await rpc('n', '', about)).toBe('1')
  const failed = { error: expect.any(String) }
  expect(await together('addInVain', 'look')).toEqual([failed, 'nothing'])
  expect(await rpc('n', '', about)).toBe('1')
})

it.each(['sandboxed', 'trusted'] as const)(
  '[R-STA-2] [S-REL-8] a state whose %s handler waits is read behind its slices, and handed over',
  async (tier) => {
    const { enter, rpc, states, until, host } = await serve(counted, { tier, hand_over_ms: 20 })
    const { about } = await enter(5)
    void rpc('wait', '', about)
    const reads = async () => Number(await rpc('reads', '', about))
    /** Once in a second it is read for what none has noted. */
    const readsRarely = async () => {
      const before = await reads()
      for (let turn = 0; turn < 20; turn += 1) await reads()
      expect((await reads()) - before).toBeLessThan(20)
    }
    await reads()
    await readsRarely()
    const before = await reads()
    await rpc('wake', '', about)
    await reads()
    expect(await reads()).toBeGreaterThan(before)
    await readsRarely()
    await until(() => states.get(5)?.includes('woken') === true)
    // It is written to outside of its slices.
    await rpc('touch', '', about)
    await until(() => states.get(5)?.includes('"touched":1') === true)
    await rpc('touch', '', about)
    expect(await host.reload()).toMatchObject({ outcome: 'active' })
    expect(states.get(5)).toContain('"touched":2')
  },
)

it('[S-STA-5] [S-LIM-4] a state that is made too late makes no room, and says nothing', async () => {
  const { enter, rpc, delivered, saved } = await serve(lateMade, { call_timeout_ms: 200 })
  const { made, about } = await enter(5)
  expect(made).toEqual({ status: 'failed' })
  await rpc('wake', '', about)
  expect(await rpc('said', '', about)).toBe('timeout')
  expect(await rpc('n', '', about)).toEqual({ error: expect.any(String) })
  expect([delivered, saved]).toEqual([[], []])
})

it('[S-LIM-6] the timers of a room end with it, and cancelled ones do not count', async () => {
  const { enter, rpc, delivered, until } = await serve()
  const { about, end } = await enter(5)
  expect(await rpc('later', '', about)).toBe('')
  end()
  await until(() => delivered.length > 0)
  expect(delivered.map(({ text }) => text)).toEqual(['of the script'])
})

it('[R-STA-6] [S-REL-8] at a hand-over each room has the whole deadline to be saved', async () => {
  const { enter, saved, host, rpc } = await serve()
  const rooms = [await enter(5), await enter(6), await enter(7), await enter(8)] as const
  for (const { spend } of rooms) await spend(200)
  // It has ended, although its handler has failed.
  rooms[3].end()
  saved.length = 0
  expect(await host.reload()).toMatchObject({ outcome: 'active' })
  expect([saved.slice(0, 3), saved.includes(8)]).toEqual([[5, 6, 7], false])
  // What comes while a state is made again waits for it.
  const [{ about, spend }] = rooms
  expect([await spend(0), await rpc('n', '', about)]).toEqual(['ok', '2'])
})

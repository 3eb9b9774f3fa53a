import { expect, it } from 'vitest'
import { noPorts } from '../ports.ts'
import { startReloading } from './reload.fixture.ts'

const ids = Array.from({ length: 1_000 }, (_, n) => n + 1)
const rooms = {
  ...noPorts.rooms,
  tickRooms: () =>
    ids.map((room_id) => ({ room_id, match_id: `match-${room_id}`, generation: null })),
}

/** Counts the ticks of each room and the calls of players, and hands both over. */
const game = (version: number) => `
let ticks = {}
let calls = 0
guildhall.on_start(({ state }) => { if (state !== null) ({ ticks, calls } = state) })
guildhall.on_unload(() => ({ ticks, calls }))
guildhall.on_tick((_dt, room) => { if (room !== null) ticks[room] = (ticks[room] ?? 0) + 1 })
guildhall.on_rpc('call', async () => {
  calls += 1
  await guildhall.session_list()
  return 'called'
})
guildhall.on_rpc('seen', () => ({ version: ${version}, calls, ticks: Object.values(ticks) }))
`

it('[S-REL-4] [S-REL-8] a thousand rooms that tick outlive reloads, good ones and bad ones', async () => {
  const files = { 'main.js': game(1) }
  const { rpc, save, seen } = await startReloading({ files, rooms, config: { tick_hz: 20 } })
  const look = async () =>
    JSON.parse(String(await rpc('seen'))) as { version: number; calls: number; ticks: number[] }
  let asking = true
  let answered = 0
  async function player(): Promise<void> {
    while (asking) {
      expect(await rpc('call')).toBe('called')
      answered += 1
    }
  }
  const players = [player(), player(), player(), player()]
  const least = async () => Math.min(...(await look()).ticks)

  save('main.js', `${game(2)}\nthrow new Error('bad')`)
  expect(await seen(2)).toMatchObject({
    outcome: 'rejected',
    problem: expect.stringMatching(/bad/),
  })
  const kept = await look()
  expect([kept.version, kept.ticks.length]).toEqual([1, 1_000])

  save('main.js', game(3))
  expect(await seen(3)).toMatchObject({ outcome: 'active', generation: 2 })
  const after = await look()
  expect([after.version, after.ticks.length]).toEqual([3, 1_000])
  expect(Math.min(...after.ticks)).toBeGreaterThanOrEqual(Math.min(...kept.ticks))
  const ticksThen = await least()
  while ((await least()) <= ticksThen) await rpc('seen')

  asking = false
  await Promise.all(players)
  // No call was lost, and none ran twice.
  expect((await look()).calls).toBe(answered)
})

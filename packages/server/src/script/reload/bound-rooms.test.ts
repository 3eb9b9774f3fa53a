import { describe, expect, it } from 'vitest'
import type { MatchEvent } from '../../kernel/play/room-hooks.ts'
import type { HarnessOptions } from '../host.fixture.ts'
import { player } from '../host.fixture.ts'
import { startReloading, version } from './reload.fixture.ts'

/** Answers in RPCs and messages with its number. */
const script = (n: number, more = '') =>
  version(
    n,
    `guildhall.on_message(${100 + n}, () => guildhall.broadcast(100, '${n}'))
     guildhall.on_tick((dt, room) => { if (room !== null) guildhall.broadcast(200, '${n} ' + room) })
     guildhall.on_match_ended((ctx) => guildhall.broadcast(201, '${n} ended ' + ctx.room_id))
     ${more}`,
  )

const inRoom = (room_id: number, participant = room_id) =>
  player(participant, { room_id, match_id: `m${room_id}` })

/** A host that requires its script, with rooms that keep to the script that made them. */
async function start(options: HarnessOptions) {
  const rooms = new Map<number, number>()
  const harness = await startReloading({
    ...options,
    config: { require_script: true, tick_hz: 50, ...options.config },
    rooms: {
      tickRooms: () =>
        [...rooms].map(([room_id, generation]) => ({
          room_id,
          match_id: `m${room_id}`,
          generation,
        })),
      closeBoundRooms: (generation) => {
        for (const [id, bound] of rooms) if (bound === generation) end(id)
      },
    },
  })
  const { host } = harness
  const happen = (event: 'created' | 'ended', room_id: number, generation: number) => {
    const about = { room_id, match_id: `m${room_id}`, name: null, map: '', mode: '' }
    const more = { max_players: 0, open: true, participants: 0 }
    const binding = { revision_id: '', generation }
    const why = event === 'ended' ? { termination_reason: 'server_closed' as const } : {}
    const happened = { event, ...about, ...more, binding, ...why } as MatchEvent
    host.game.match(happened, () => {})
  }
  function end(room_id: number): void {
    const generation = rooms.get(room_id) ?? 0
    rooms.delete(room_id)
    happen('ended', room_id, generation)
  }
  function create(room_id: number): void {
    const { generation = 0 } = host.game.binding() ?? {}
    rooms.set(room_id, generation)
    happen('created', room_id, generation)
  }
  return { ...harness, rooms, create, end }
}

describe('a room on a node that requires a script', () => {
  it('[S-REL-6] [S-REL-7] [S-HK-2] keeps the script that made it; all else goes to the new one', async () => {
    const { host, rpc, message, save, seen, create, delivered, until } = await start({
      files: { 'main.ts': script(1) },
    })
    create(5)
    save('main.ts', script(2))
    await seen(2)
    create(6)
    expect(host.game.binding()).toMatchObject({ generation: 2 })
    expect(await rpc('version', '', inRoom(5))).toBe('1')
    expect(await rpc('version', '', inRoom(6))).toBe('2')
    expect(await rpc('version', '', player(9))).toBe('2')
    // Which kinds there are is the room's script's business as well.
    expect([host.game.handlesKind(101, 5), host.game.handlesKind(102, 5)]).toEqual([true, false])
    expect([host.game.handlesKind(101, 6), host.game.handlesKind(102, null)]).toEqual([false, true])
    expect(await message(101, '', inRoom(5))).toBe('ok')
    expect(await message(101, '', inRoom(6))).toBe('unavailable')
    const from = delivered.length
    await until(() => delivered.length > from + 20)
    const ticks = delivered.slice(from).filter(({ kind }) => kind === 200)
    expect(new Set(ticks.map(({ text }) => text))).toEqual(new Set(['1 5', '2 6']))
  })

  it('[S-REL-6] [S-REL-8] hands nothing over, and its worker ends with its last room', async () => {
    const unloads = `guildhall.on_unload(() => { guildhall.broadcast(300, 'unload'); return 1 })
      process.on('exit', () => {})`
    const { save, seen, create, end, delivered, rpc, until } = await start({
      files: { 'main.ts': script(1, unloads) },
    })
    create(5)
    save(
      'main.ts',
      script(
        2,
        `guildhall.on_rpc('state', () => state)
      let state: unknown = 'none'
      guildhall.on_start((start) => { state = start.state })`,
      ),
    )
    await seen(2)
    expect(await rpc('state')).toBe('')
    end(5)
    await until(() => delivered.some(({ text }) => text === '1 ended 5'))
    expect(delivered.some(({ kind }) => kind === 300)).toBe(false)
    expect(await rpc('version', '', inRoom(5))).toBe('2')
  })

  it('[S-REL-6] is closed when reload_drain_ms have passed', async () => {
    const { save, seen, create, rooms, until, delivered } = await start({
      files: { 'main.ts': script(1) },
      config: { reload_drain_ms: 300 },
    })
    create(5)
    save('main.ts', script(2))
    await seen(2)
    create(6)
    await until(() => !rooms.has(5))
    await until(() => delivered.some(({ text }) => text === '1 ended 5'))
    expect([...rooms.keys()]).toEqual([6])
  })

  it('[S-REL-6] is closed by the next candidate but one: one old worker lives', async () => {
    const never = `guildhall.on_rpc('never', () => new Promise(() => {}))`
    const { save, seen, create, rooms, rpc } = await start({
      files: { 'main.ts': script(1, never) },
    })
    create(5)
    const open = rpc('never', '', inRoom(5))
    save('main.ts', script(2))
    await seen(2)
    create(6)
    save('main.ts', script(3))
    await seen(3)
    create(7)
    expect(await open).toEqual({ error: 'RPC handler timed out' })
    expect([...rooms]).toEqual([
      [6, 2],
      [7, 3],
    ])
    expect(await rpc('version', '', inRoom(6))).toBe('2')
  })

  it('[S-REL-6] [S-REL-8] a candidate that is rejected leaves the old one its rooms and calls', async () => {
    const waits = `let go: (text: string) => void
      guildhall.on_rpc('wait', () => new Promise((resolve) => { go = resolve }))
      guildhall.on_rpc('go', () => go('went'))`
    const { save, seen, create, rooms, rpc } = await start({
      files: { 'main.ts': script(1, waits) },
    })
    create(5)
    const open = rpc('wait', '', inRoom(5))
    save('main.ts', script(2))
    await seen(2)
    save('main.ts', script(3, `guildhall.on_start(() => { throw new Error('no') })`))
    expect(await seen(3)).toMatchObject({ outcome: 'rejected', generation: 2 })
    expect([...rooms]).toEqual([[5, 1]])
    await rpc('go', '', inRoom(5))
    expect(await open).toBe('went')
  })

  it('[S-REL-6] [S-REC-5] outlives the worker of the others, and not its own', async () => {
    const exits = `guildhall.on_rpc('exit', () => process.exit())`
    const { save, seen, create, rooms, rpc, until, state } = await start({
      files: { 'main.ts': script(1, exits) },
    })
    create(5)
    save('main.ts', script(2, exits))
    await seen(2)
    create(6)
    await rpc('exit', '', inRoom(6))
    await until(() => !rooms.has(6))
    expect(rooms.has(5)).toBe(true)
    await until(() => state() === 'ready')
    void rpc('exit', '', inRoom(5))
    await until(() => !rooms.has(5))
    expect(state()).toBe('ready')
    expect(await rpc('version')).toBe('2')
  })
})

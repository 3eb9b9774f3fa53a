import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { player, startHarness } from '../host.fixture.ts'
import type { Failed } from '../log/failure-log.ts'
import type { CallRecord } from '../wire/call-records.ts'
import { hookCode } from '../wire/hooks.ts'
import { createActivationList } from './activation-list.ts'
import { createCpuUse } from './cpu-use.ts'
import { createFailureList } from './failure-list.ts'

const script = (text: string, config = {}) => startHarness({ files: { 'main.ts': text }, config })

const failed = (more: Partial<Failed> = {}): Failed => ({
  hook: 'on_rpc',
  name: 'buy',
  kind: 'error',
  reason: 'Error: no',
  place: 'main.ts:3',
  revision_id: 'sha256:1',
  ...more,
})

describe('failures of handlers', () => {
  it('[S-VIEW-3] are shown with the script’s own message and place, each place once', async () => {
    const { host, rpc, message } = await script(
      `const check = (n: number) => {
         if (n > 0) throw new RangeError('no more than ' + n)
       }
       guildhall.on_rpc('buy', (ctx, body) => check(body.length))
       guildhall.on_message(100, () => check(7))
       guildhall.on_join(() => check(8))
       guildhall.on_rpc('refuse', () => guildhall.fail('not today'))
       guildhall.on_rpc('loop', () => { for (;;) {} })`,
      { deadline_ms: 100 },
    )
    await rpc('buy', 'x')
    await rpc('buy', 'xy')
    await message(100)
    await new Promise<void>((settled) => host.game.join(player(9), settled))
    await rpc('refuse')
    await rpc('loop')
    const { revision_id } = host.describe().readiness
    const seen = {
      first_at_unix_ms: expect.any(Number),
      last_at_unix_ms: expect.any(Number),
      revision_id,
    }
    const place = 'main.ts:2'
    expect(host.failures().items).toEqual([
      {
        ...{ hook: 'on_rpc', name: 'loop', place: null, count: 1, ...seen },
        reason: 'interrupted at its deadline',
      },
      {
        ...{ hook: 'on_join', name: '', place, count: 1, ...seen },
        reason: 'RangeError: no more than 8 (called from main.ts:6)',
      },
      {
        ...{ hook: 'on_message', name: '100', place, count: 1, ...seen },
        reason: 'RangeError: no more than 7 (called from main.ts:5)',
      },
      {
        ...{ hook: 'on_rpc', name: 'buy', place, count: 2, ...seen },
        reason: 'RangeError: no more than 2 (called from main.ts:4)',
      },
    ])
  })

  it('[S-VIEW-3] [S-SEE-2] are shown to the operator who calls an RPC, and to no player', async () => {
    const { host, rpc } = await script(
      `guildhall.on_rpc('buy', () => { throw new Error('no stock') })`,
    )
    expect(await host.consoleRpc('buy', '')).toEqual({
      ok: false,
      error: 'RPC handler error',
      reason: 'Error: no stock',
      place: 'main.ts:1',
    })
    expect(await rpc('buy')).toEqual({ error: 'RPC handler error' })
  })

  it('[S-VIEW-3] are the last hundred, newest first, with first and last time', async () => {
    const clock = createFakeClock()
    const list = createFailureList(clock)
    const startUnixMs = clock.nowUnixMs()
    for (let line = 1; line <= 150; line += 1) list.record(failed({ place: `main.ts:${line}` }))
    await clock.advance(1000)
    list.record(failed({ place: 'main.ts:60', reason: 'x'.repeat(2000), revision_id: 'sha256:2' }))
    const items = list.items()
    expect(items).toHaveLength(100)
    expect(items.slice(0, 2)).toEqual([
      {
        ...{ hook: 'on_rpc', name: 'buy', place: 'main.ts:60', count: 2 },
        reason: 'x'.repeat(1024),
        first_at_unix_ms: startUnixMs,
        last_at_unix_ms: startUnixMs + 1000,
        revision_id: 'sha256:2',
      },
      expect.objectContaining({ place: 'main.ts:150', count: 1 }),
    ])
    expect(items.at(-1)).toMatchObject({ place: 'main.ts:51' })
  })
})

describe('the script’s past', () => {
  it('[S-VIEW-3] [S-REL-10] shows when it began to serve', async () => {
    const { host, rpc, until } = await script(`guildhall.on_rpc('exit', () => process.exit())`)
    await rpc('exit')
    await until(() => host.readiness().state === 'ready')
    const { revision_id } = host.describe().readiness
    const active = { outcome: 'active', revision_id, files: [], problem: null }
    expect(host.failures().reloads).toMatchObject([
      { ...active, reason: 'restart', generation: 2 },
      { ...active, reason: 'boot', generation: 1 },
    ])
  })

  it('[S-VIEW-3] [S-REL-10] shows why it does not serve', async () => {
    const { host } = await script('broken {', { hot_reload: true })
    expect(host.failures().reloads).toMatchObject([
      {
        outcome: 'rejected',
        reason: 'boot',
        revision_id: expect.stringMatching(/^sha256:/),
        generation: 0,
        problem: expect.stringMatching(/^main\.ts:1: /),
      },
    ])
  })

  it('[S-VIEW-3] is kept to twenty', () => {
    const list = createActivationList()
    for (let generation = 1; generation <= 25; generation += 1) {
      list.add({
        ...{ at_unix_ms: 0, outcome: 'active', reason: 'restart', revision_id: null },
        ...{ generation, files: [], duration_ms: 0, problem: null },
      })
    }
    const generations = list.items().map(({ generation }) => generation)
    expect([generations.length, generations[0], generations.at(-1)]).toEqual([20, 25, 6])
  })
})

describe('the CPU of handlers', () => {
  const call = (hook: number, text: string | null, detail = 0) =>
    ({ hook, text, detail }) as CallRecord

  it('[S-VIEW-3] shows the ten that used most of it in the last minute', async () => {
    const clock = createFakeClock()
    const use = createCpuUse(clock)
    for (let n = 1; n <= 12; n += 1) use.add(call(hookCode.on_rpc, `m${n}`), n * 1000)
    use.add(call(hookCode.on_message, null, 100), 20_000)
    await clock.advance(30_000)
    use.add(call(hookCode.on_message, null, 100), 500)
    const shown = use.dearest()
    expect(shown).toHaveLength(10)
    expect(shown.slice(0, 2)).toEqual([
      { hook: 'on_message', name: '100', calls: 2, cpu_ms: 20.5 },
      { hook: 'on_rpc', name: 'm12', calls: 1, cpu_ms: 12 },
    ])
    await clock.advance(30_000)
    expect(use.dearest()).toEqual([{ hook: 'on_message', name: '100', calls: 1, cpu_ms: 0.5 }])
    await clock.advance(30_000)
    expect(use.dearest()).toEqual([])
    use.stop()
    expect(clock.timersWaiting()).toBe(0)
  })

  it('[S-PRF-1] has a series for each of the 200 dearest, and one for the others', () => {
    const use = createCpuUse(createFakeClock())
    for (let n = 1; n <= 203; n += 1) use.add(call(hookCode.on_rpc, `m${n}`), n * 1000)
    const series = use.series()
    expect(series).toHaveLength(201)
    expect(series[0]).toEqual({ hook: 'on_rpc', name: 'm203', seconds: 0.203 })
    expect(series[199]).toMatchObject({ name: 'm4' })
    expect(series[200]).toEqual({ hook: 'other', name: '', seconds: 0.006 })
    use.stop()
  })

  it('[S-PRF-1] stands beside that of all that the script does, over its processes', async () => {
    const { host, rpc, until } = await script(
      `guildhall.on_rpc('burn', () => {
         const begin = process.cpuUsage().user
         setTimeout(() => { while (process.cpuUsage().user < begin + 400_000); })
       })`,
    )
    await rpc('burn')
    await until(() => host.cpuSeconds() >= 0.4)
    const handlers = host.cpuSeries().reduce((sum, { seconds }) => sum + seconds, 0)
    expect(handlers).toBeLessThan(0.4)
    const before = host.cpuSeconds()
    await host.reload()
    await until(() => host.cpuSeconds() > before)
    await host.reload()
    expect(host.cpuSeconds()).toBeGreaterThan(before)
  })

  it('[S-VIEW-3] counts all rooms of a tick', async () => {
    const rooms = [1, 2, 3].map((room_id) => ({
      room_id,
      match_id: `m${room_id}`,
      generation: null,
    }))
    const { host, until } = await startHarness({
      files: {
        'main.ts': `guildhall.on_tick((dt, room) => {
          const end = performance.now() + (room === null ? 0 : 2)
          while (performance.now() < end);
        })`,
      },
      config: { tick_hz: 10 },
      rooms: { tickRooms: () => rooms, closeBoundRooms() {} },
    })
    await until(() => host.failures().dearest.length > 0)
    const [cost = { calls: 0, cpu_ms: 0 }] = host.failures().dearest
    expect(cost).toMatchObject({ hook: 'on_tick', name: '' })
    expect(cost.cpu_ms / cost.calls).toBeGreaterThanOrEqual(5.9)
  })
})

import { describe, expect, it } from 'vitest'
import { player, startHarness } from '../host.fixture.ts'

describe('on_start', () => {
  it('[S-HK-12] has settled before the node is ready, and every call after it', async () => {
    const { rpc, host } = await startHarness({
      files: {
        'main.ts': `
          let state = 'empty'
          guildhall.on_start(async () => {
            await new Promise((resolve) => setTimeout(resolve, 100))
            state = 'loaded'
          })
          guildhall.on_rpc('state', () => state)`,
      },
    })
    expect(host.describe()).toMatchObject({ attached: true, readiness: { state: 'ready' } })
    expect(await rpc('state')).toBe('loaded')
  })

  it('[S-HK-12] loads what a killed worker had stored before a player moves again', async () => {
    const stored = new Map<string, unknown>()
    const { rpc, host, message, until } = await startHarness({
      files: {
        'main.ts': `
          let moves = -1
          guildhall.on_start(async () => {
            const row = await guildhall.storage_read(null, 'game', 'moves')
            await new Promise((resolve) => setTimeout(resolve, 50))
            moves = Number(row?.value.moves ?? 0)
          })
          guildhall.on_message(100, async () => {
            moves += 1
            await guildhall.storage_write(null, 'game', 'moves', { moves })
          })
          guildhall.on_rpc('moves', () => moves)
          guildhall.on_rpc('exit', () => process.exit())`,
      },
      functions: {
        storage_read: (_caller, { key }: { key: string }) => stored.get(key) ?? null,
        storage_write: (_caller, { key, value }: { key: string; value: unknown }) => {
          const row = { value, version: '1', read_permission: 1, write_permission: 1 }
          stored.set(key, row)
          return { version: '1' }
        },
      },
    })
    const kills = 2
    for (let kill = 1; kill <= kills; kill += 1) {
      expect(await message(100)).toBe('ok')
      void rpc('exit')
      await until(() => !host.game.serving())
      await until(() => host.game.serving())
      // Its on_start has not settled yet.
      expect(await message(100)).toBe('ok')
      expect(await rpc('moves')).toBe(String(kill * 2))
    }
  })

  it('[S-HK-12] [S-LIM-4] may take as long as a call, is logged then, and the script serves', async () => {
    const { rpc, host, lines } = await startHarness({
      files: {
        'main.ts': `
          guildhall.on_start(() => new Promise(() => {}))
          guildhall.on_rpc('x', () => 'x')`,
      },
      config: { call_timeout_ms: 300 },
    })
    expect(await rpc('x')).toBe('x')
    expect(lines('warn')).toMatchObject([
      { message: 'a script handler took too long', fields: { hook: 'on_start' } },
    ])
    expect(host.metrics()).toMatchObject({ script_call_timeouts_total: 1 })
  })

  it('[S-HK-12] that fails is logged, and the script serves', async () => {
    const { rpc, lines } = await startHarness({
      files: {
        'main.ts': `
          guildhall.on_start(async () => { throw new Error('no state') })
          guildhall.on_rpc('x', () => 'x')`,
      },
    })
    expect(await rpc('x')).toBe('x')
    expect(lines('warn')).toMatchObject([
      {
        message: 'a script handler failed',
        fields: { hook: 'on_start', reason: 'Error: no state' },
      },
    ])
  })

  it('[S-HK-12] [S-API-29] runs with the timers that it sets, those of the top level begin after it', async () => {
    const { rpc, host } = await startHarness({
      files: {
        'main.ts': `
          const seen: string[] = []
          guildhall.after(1, () => { seen.push('top level') })
          guildhall.on_start(async () => {
            await new Promise<void>((resolve) => guildhall.after(50, () => {
              seen.push('own')
              resolve()
            }))
            seen.push('settled')
          })
          guildhall.on_rpc('seen', () => seen)`,
      },
    })
    let seen = await rpc('seen')
    while (!String(seen).includes('top level')) seen = await rpc('seen')
    expect(seen).toBe('["own","settled","top level"]')
    expect(host.metrics().script_call_errors_total).toBe(0)
  })

  it('[S-HK-12] skips ticks meanwhile, and leaves the join of a player to wait', async () => {
    const { rpc, host, until } = await startHarness({
      files: {
        'main.ts': `
          const seen: string[] = []
          guildhall.on_start(async ({ reason }) => {
            await new Promise((resolve) => setTimeout(resolve, reason === 'restart' ? 200 : 0))
            seen.push('start')
          })
          guildhall.on_tick(() => { if (seen.at(-1) !== 'tick') seen.push('tick') })
          guildhall.on_join(() => { seen.push('join') })
          guildhall.on_rpc('seen', () => seen)
          guildhall.on_rpc('exit', () => process.exit())`,
      },
      config: { tick_hz: 50 },
    })
    await rpc('exit')
    await until(() => host.game.serving())
    const skipped = host.metrics().script_ticks_skipped_total
    await new Promise<void>((settled) => host.game.join(player(1), settled))
    const seen: string[] = JSON.parse(String(await rpc('seen')))
    expect([seen[0], seen.includes('join')]).toEqual(['start', true])
    expect(host.metrics().script_ticks_skipped_total).toBeGreaterThan(skipped)
  })

  it('[S-HK-12] that ends its worker is the first failure of a script that is started again', async () => {
    const { host, until, rpc } = await startHarness({
      files: {
        'main.ts': `
          guildhall.on_start(({ reason }) => { if (reason === 'boot') process.exit() })
          guildhall.on_rpc('x', () => 'x')`,
      },
    })
    await until(() => host.readiness().state === 'ready')
    expect(await rpc('x')).toBe('x')
    expect(host.describe().readiness).toMatchObject({
      generation: 2,
      recovery: { consecutive_failures: 1 },
    })
  })

  it('[S-HK-12] may write to a storage index that the script filters', async () => {
    let filter: (candidate: object) => Promise<boolean> = async () => false
    const { rpc } = await startHarness({
      files: {
        'main.ts': `
          let written: unknown
          guildhall.register_storage_index_filter('wins', ({ value }) => value.wins > 0)
          guildhall.on_start(async () => {
            written = await guildhall.storage_write(null, 'game', 'a', { wins: 1 })
          })
          guildhall.on_rpc('written', () => written)`,
      },
      setIndexFilter: async (_index, given) => {
        if (given !== undefined) filter = given as typeof filter
        return true
      },
      functions: {
        storage_write: async (_caller, { value }: { value: unknown }) => {
          const candidate = { user_id: null, collection: 'game', key: 'a', value }
          return { version: String(await filter(candidate)) }
        },
      },
    })
    expect(await rpc('written')).toBe('{"version":"true"}')
  })

  it('[S-HK-12] is what a function that waits names at the top level', async () => {
    const { rpc } = await startHarness({
      files: {
        'main.ts': `
          const refused = await guildhall.session_list().catch((error) => error)
          guildhall.on_rpc('refused', () => [refused.code, refused.message])`,
      },
    })
    const [code, message] = JSON.parse(String(await rpc('refused')))
    expect(code).toBe('unavailable')
    expect(message).toContain('on_start')
  })
})

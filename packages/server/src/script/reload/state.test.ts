import { describe, expect, it } from 'vitest'
import { player } from '../host.fixture.ts'
import { startReloading, version } from './reload.fixture.ts'

/** Counts, and hands its count over. */
const counting = (n: number, more = '') =>
  version(
    n,
    `let count = 0
     guildhall.on_start(({ reason, state }) => { if (state) count = state.count })
     guildhall.on_unload(() => ({ count }))
     guildhall.on_rpc('count', () => String(++count))
     ${more}`,
  )

describe('state over a reload', () => {
  it('[S-REL-8] is what on_unload returns and on_start gets', async () => {
    const { rpc, save, seen, until } = await startReloading({
      files: {
        'main.ts': version(
          1,
          `let last: unknown = 'none'
           guildhall.on_unload((unload) => ({ unload, big: 2n ** 60n, list: [1, 'ü', null] }))
           guildhall.on_start((start) => { last = start })
           guildhall.on_rpc('last', () => last)
           guildhall.on_rpc('exit', () => process.exit())`,
        ),
      },
    })
    expect(await rpc('last')).toBe('{"reason":"boot","state":null}')
    save(
      'main.ts',
      version(
        2,
        `let last: unknown
         guildhall.on_start((start) => { last = start })
         guildhall.on_rpc('last', () => last)
         guildhall.on_rpc('exit', () => process.exit())`,
      ),
    )
    await seen(2)
    const state = '{"unload":{"reason":"reload"},"big":1152921504606846976,"list":[1,"ü",null]}'
    expect(await rpc('last')).toBe(`{"reason":"reload","state":${state}}`)
    void rpc('exit')
    await seen(3)
    await until(() => true)
    expect(await rpc('last')).toBe('{"reason":"restart","state":null}')
  })

  it('[S-REL-8] loses no call and does none twice', async () => {
    const { rpc, save, seen, activations } = await startReloading({
      files: { 'main.js': counting(1) },
    })
    const answers: number[] = []
    const call = async () => void answers.push(Number(await rpc('count')))
    let n = 2
    while (activations().length < 4) {
      if (activations().length === n - 1) {
        save('main.js', counting(n))
        n += 1
      }
      await Promise.all(Array.from({ length: 20 }, call))
    }
    await seen(4)
    await call()
    expect(answers).toEqual(Array.from(answers, (_, at) => at + 1))
    expect(await rpc('version')).toBe('4')
  })

  it('[S-REL-8] waits for open calls at most hand_over_ms, and lets them end', async () => {
    const slow = `guildhall.on_rpc('slow', async () => {
      await new Promise((resolve) => setTimeout(resolve, 4000))
      return String(++count)
    })`
    const { rpc, save, seen, activations } = await startReloading({
      files: { 'main.js': counting(1, slow) },
      config: { hand_over_ms: 100 },
    })
    const pending = rpc('slow')
    save('main.js', counting(2))
    const { duration_ms } = await seen(2)
    expect(activations()[0]).toMatchObject({ outcome: 'active' })
    expect(duration_ms).toBeGreaterThanOrEqual(100)
    expect(await rpc('count')).toBe('1')
    expect(await pending).toBe('1')
  })

  it('[S-REL-8] runs the timers that open calls and on_unload wait for', async () => {
    const waiting = `let count = 0
      const nap = (ms) => new Promise((resolve) => guildhall.after(ms, resolve))
      guildhall.on_rpc('nap', async () => (await nap(400), String(++count)))
      guildhall.on_unload(async () => (await nap(300), { count }))
      for (let n = 0; n < 200; n += 1) guildhall.every(60 + n, () => nap(50))`
    const { rpc, save, seen, activations } = await startReloading({
      files: { 'main.js': version(1, waiting) },
      config: { hand_over_ms: 60_000 },
    })
    const pending = rpc('nap')
    save('main.js', counting(2))
    await seen(2)
    expect([activations()[0], await pending]).toMatchObject([{ outcome: 'active' }, '1'])
    expect(await rpc('count')).toBe('2')
  })

  it('[S-REL-8] [S-INV-2] keeps the messages of a player in order across it', async () => {
    const script = (n: number) =>
      version(
        n,
        `const seen: string[] = []
         guildhall.on_start(({ state }) => { seen.push(...(state ?? [])) })
         guildhall.on_unload(() => seen)
         guildhall.on_message(100, async (ctx, body) => {
           await Promise.resolve()
           seen.push(new TextDecoder().decode(body))
         })
         guildhall.on_rpc('seen', () => seen)`,
      )
    const { message, save, rpc, activations } = await startReloading({
      files: { 'main.ts': script(1) },
      config: { hand_over_ms: 10_000 },
    })
    const sent: Promise<string>[] = []
    save('main.ts', script(2))
    while (activations().length < 2) {
      for (let n = 0; n < 5; n += 1) sent.push(message(100, String(sent.length), player(7)))
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    expect(new Set(await Promise.all(sent))).toEqual(new Set(['ok']))
    expect(JSON.parse(String(await rpc('seen')))).toEqual(sent.map((_, n) => String(n)))
  })

  it.each([
    ['throws', `() => { throw new Error('no') }`, 'failed'],
    ['hangs', `() => new Promise(() => {})`, 'took too long'],
    ['computes on and on', `() => { for (;;) {} }`, 'took too long'],
    ['returns more than 4 MiB', `() => 'x'.repeat(4_194_303)`, 'returned more than 4 MiB'],
    ['returns a cycle', `() => { const a = {}; a.a = a; return a }`, 'failed'],
    ['returns a function', `() => ({ f() {} })`, 'failed'],
    ['returns a number that is none', `() => [NaN]`, 'failed'],
  ])(
    '[S-REL-8] an on_unload that %s rejects the candidate, and changes nothing',
    async (_, fn, end) => {
      const { rpc, save, seen, host } = await startReloading({
        files: {
          'main.js': version(
            1,
            `let count = 0
           guildhall.on_unload(${fn})
           guildhall.on_rpc('count', () => String(++count))`,
          ),
        },
        config: { call_timeout_ms: 1_000 },
      })
      await rpc('count')
      save('main.js', version(2))
      expect(await seen(2)).toMatchObject({
        outcome: 'rejected',
        problem: `on_unload of the serving script ${end}`,
      })
      expect([await rpc('version'), await rpc('count')]).toEqual(['1', '2'])
      expect(host.describe().readiness).toMatchObject({ state: 'ready', generation: 1 })
    },
  )

  it('[S-REL-8] may be 4 MiB', async () => {
    const { rpc, save, seen } = await startReloading({
      files: { 'main.js': version(1, `guildhall.on_unload(() => 'x'.repeat(4_194_302))`) },
    })
    save(
      'main.js',
      version(
        2,
        `let got; guildhall.on_start(({ state }) => { got = state.length })
         guildhall.on_rpc('got', () => got)`,
      ),
    )
    await seen(2)
    expect(await rpc('got')).toBe('4194302')
  })

  it('[S-REL-8] an old script that ends its worker leaves the candidate without a state', async () => {
    const { rpc, save, seen, host } = await startReloading({
      files: { 'main.ts': version(1, 'guildhall.on_unload(() => process.exit())') },
    })
    save(
      'main.ts',
      version(
        2,
        `let got: unknown; guildhall.on_start((start) => { got = start })
         guildhall.on_rpc('got', () => got)`,
      ),
    )
    expect(await seen(2)).toMatchObject({ outcome: 'active', generation: 2 })
    expect(host.failures().reloads.at(-1)).toMatchObject({ reason: 'boot' })
    expect([await rpc('version'), await rpc('got')]).toEqual([
      '2',
      '{"reason":"reload","state":null}',
    ])
  })

  it('[S-REL-8] [S-HK-12] on_unload runs before a node stops, and what it stores is stored', async () => {
    const written: unknown[] = []
    const { host } = await startReloading({
      files: {
        'main.js': version(
          1,
          `guildhall.on_unload(async ({ reason }) => {
             await guildhall.storage_write(null, 'game', 'state', { reason })
           })`,
        ),
      },
      functions: {
        storage_write: (_caller, { value }: { value: unknown }) => {
          written.push(value)
          return { version: '1' }
        },
      },
    })
    await host.unload()
    expect(written).toEqual([{ reason: 'stop' }])
  })
})

describe('the order of calls', () => {
  it('[S-REL-4] [S-REL-5] a call under way ends in the old script, new ones go to the new one', async () => {
    const script = (n: number) =>
      version(
        n,
        `guildhall.on_rpc('slow', async () => {
           await new Promise((resolve) => setTimeout(resolve, 800))
           return '${n}'
         })
         guildhall.on_message(100, async () => {
           await new Promise((resolve) => setTimeout(resolve, 800))
           guildhall.broadcast(100, '${n}')
         })`,
      )
    const { rpc, message, save, seen, delivered } = await startReloading({
      files: { 'main.js': script(1) },
    })
    const slow = rpc('slow')
    const first = message(100, '', player(5))
    save('main.js', script(2))
    await seen(2)
    // It waits behind the player's first message, which the old script still has.
    const second = message(100, '', player(5))
    expect(await rpc('version')).toBe('2')
    expect(await slow).toBe('1')
    expect([await first, await second]).toEqual(['ok', 'ok'])
    expect(delivered.map(({ text }) => text)).toEqual(['1', '2'])
  })

  it('[S-REL-5] the old worker ends when it has nothing left, at the latest after a call', async () => {
    const { rpc, save, seen, lines, until } = await startReloading({
      files: {
        'main.js': version(
          1,
          `process.on('exit', () => console.log('gone'))
           guildhall.on_rpc('never', () => new Promise(() => {}))`,
        ),
      },
      config: { call_timeout_ms: 1_000 },
    })
    const never = rpc('never')
    save('main.js', version(2))
    await seen(2)
    expect(await never).toEqual({ error: 'RPC handler timed out' })
    expect(await rpc('version')).toBe('2')
    await until(() => lines('warn').length > 0)
  })

  it('[S-API-29] [S-REL-5] timers of the old script end with it', async () => {
    const ticking = (n: number) =>
      version(n, `guildhall.every(10, () => guildhall.broadcast(100, '${n}'))`)
    const { save, seen, delivered, until } = await startReloading({
      files: { 'main.js': ticking(1) },
    })
    await until(() => delivered.length > 3)
    save('main.js', ticking(2))
    await seen(2)
    await until(() => delivered.at(-1)?.text === '2')
    const from = delivered.length
    await until(() => delivered.length > from + 10)
    expect(new Set(delivered.slice(from).map(({ text }) => text))).toEqual(new Set(['2']))
  })
})

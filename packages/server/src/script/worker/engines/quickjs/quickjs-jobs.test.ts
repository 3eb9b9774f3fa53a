import { describe, expect, it } from 'vitest'
import { type HarnessOptions, shareHarness, startHarness } from '../../../host.fixture.ts'

const functions = {
  sleep: (_call: unknown, { ms }: { ms?: unknown }) =>
    new Promise<void>((resolve) => setTimeout(resolve, Number(ms))),
}

const optionsOf = (main: string, config = {}): HarnessOptions => ({
  files: { 'main.mjs': `let count = 0\n${main}\nguildhall.on_rpc('count', () => ++count)` },
  config: { tier: 'sandboxed', deadline_ms: 100, ...config },
  functions,
})
const start = (main: string, config = {}) => startHarness(optionsOf(main, config))

const timedOut = { error: 'RPC handler timed out' }

describe('what an interrupted slice of the sandbox leaves behind', () => {
  it('[S-LIM-1] [S-INV-3] what a settled handler left has a deadline, and another is not blamed', async () => {
    const { rpc, host, until, lines } = await start(`
      let go
      const woken = new Promise((resolve) => { go = resolve })
      guildhall.on_rpc('leave', () => { woken.then(() => { for (;;) {} }) })
      guildhall.on_rpc('end', () => { go(); return 'ended' })
    `)
    await rpc('leave')
    expect(await rpc('end')).toBe('ended')
    await until(() => lines('error').length > 0)
    expect(await rpc('count')).toBe('1')
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })

  it('[S-LIM-1] each slice outside of the handlers has a deadline of its own', async () => {
    const { rpc } = await start(`
      let rounds = 0
      const wait = (ms) => { const end = Date.now() + ms; while (Date.now() < end); }
      guildhall.on_rpc('leave', () => {
        (async () => { for (;;) { await guildhall.sleep(1); wait(30); rounds += 1 } })()
      })
      guildhall.on_rpc('rounds', () => rounds)
    `)
    await rpc('leave')
    await expect.poll(async () => Number(await rpc('rounds'))).toBeGreaterThan(8)
  })

  const ways = [
    ['computes', '(go) => { go(); for (;;) {} }'],
    ['has waited', 'async (go) => { go(); await null; for (;;) {} }'],
    ['leaves a loop', '(go) => { go(); (async () => { await null; for (;;) {} })(); for (;;) {} }'],
  ] as const
  const shared = shareHarness(
    optionsOf(`
      let go
      guildhall.on_rpc('wait', async () => {
        await new Promise((resolve) => { go = resolve })
        return 'went on'
      })
      guildhall.on_rpc('is', () => go !== undefined)
      const end = (way) => { const woken = go; go = undefined; return way(woken) }
      ${ways.map(([, code], n) => `guildhall.on_rpc('end ${n}', () => end(${code}))`).join('\n')}
    `),
  )

  it.each(ways.map(([what], n) => [what, n] as const))(
    '[S-INV-1] [S-INV-3] whom it woke goes on, where it %s',
    async (_what, n) => {
      const { rpc, host } = shared()
      const waiting = rpc('wait')
      while ((await rpc('is')) !== 'true');
      expect(await rpc(`end ${n}`)).toEqual(timedOut)
      expect(await waiting).toBe('went on')
      expect(await rpc('count')).toBe(String(n + 1))
      expect(host.metrics().script_worker_restarts_total).toBe(0)
    },
  )

  it('[S-LIM-1] of a hundred thousand chains of jobs nothing goes on', async () => {
    const { rpc, host } = await start(
      `
      let rounds = 0
      guildhall.on_rpc('chains', () => {
        const chain = async () => { for (;;) { await null; rounds += 1 } }
        for (let n = 0; n < 100_000; n += 1) chain()
      })
      guildhall.on_rpc('rounds', () => rounds)
    `,
      { deadline_ms: 1000, memory_mb: 256 },
    )
    expect(await rpc('chains')).toEqual(timedOut)
    const rounds = await rpc('rounds')
    expect(await rpc('count')).toBe('1')
    expect(await rpc('rounds')).toBe(rounds)
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })

  it('[S-LIM-4] [S-TIER-5] what a forgotten handler held is free again', async () => {
    const { rpc, host } = await start(
      `
      guildhall.on_rpc('hold', async () => {
        const held = new Uint8Array(1_000_000)
        await guildhall.sleep(60_000)
        return held.length
      })
      guildhall.on_rpc('need', () => new Uint8Array(8_000_000).length)
    `,
      { memory_mb: 16, call_timeout_ms: 300 },
    )
    for (let round = 0; round < 3; round += 1) {
      const held = Array.from({ length: 6 }, () => rpc('hold'))
      expect(new Set((await Promise.all(held)).map((said) => JSON.stringify(said)))).toEqual(
        new Set([JSON.stringify(timedOut)]),
      )
    }
    expect(await rpc('need')).toBe('8000000')
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })

  it('[S-LIM-4] a forgotten handler does not go on, whoever ends its wait', async () => {
    const { rpc } = await start(
      `
      let go, went = 0
      guildhall.on_rpc('wait', async () => {
        await new Promise((resolve) => { go = resolve })
        went += 1
      })
      guildhall.on_rpc('end', () => { go() })
      guildhall.on_rpc('went', () => went)
    `,
      { call_timeout_ms: 300 },
    )
    expect(await rpc('wait')).toEqual(timedOut)
    await rpc('end')
    await rpc('count')
    expect(await rpc('went')).toBe('0')
  })
})

describe('between the sandbox and the host', () => {
  it.each(['trusted', 'sandboxed'])('[S-LANG-2] a lone surrogate is one sign, %s', async (tier) => {
    const { rpc } = await start(
      `
      guildhall.on_rpc('reply', () => 'x\\ud800')
      guildhall.on_rpc('encoded', () => [...new TextEncoder().encode('\\ud800')])
    `,
      { tier },
    )
    expect(await rpc('reply')).toBe('x\ufffd')
    expect(await rpc('encoded')).toBe('[239,191,189]')
  })

  it('[S-TIER-6] a stack shows no functions', async () => {
    const { rpc } = await start(`
      guildhall.on_rpc('stack', () => {
        Error.prepareStackTrace = (_, frames) => frames
        const { stack } = new Error('x')
        delete Error.prepareStackTrace
        return typeof stack
      })
    `)
    expect(await rpc('stack')).toBe('string')
  })
})

import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { player, shareHarness, startHarness } from '../host.fixture.ts'
import { ofChannel } from './bad-faith.fixture.ts'

const script = (text: string, config = {}) => startHarness({ files: { 'main.ts': text }, config })

describe('a worker that ends', () => {
  it('[S-WP-4] [S-REC-1] is started again also when it answers pings and no calls any more', async () => {
    const { rpc, host, until, lines } = await script(`
      ${ofChannel}
      import { readSync } from 'node:fs'
      const piece = Buffer.alloc(65_536)
      const answerPings = () => {
        let end = 0
        try { end = readSync(3, piece) } catch {}
        for (let at = 0; at < end; at += 8 + piece.readUInt32LE(at)) {
          const isValue = piece.readUInt32LE(at + 4) === 0
          const message = isValue ? deserialize(piece.subarray(at + 8)) : {}
          if (message.type === 'ping') post({ type: 'pong', n: message.n })
        }
      }
      guildhall.on_rpc('deafen', () => {
        channel()._handle.readStop()
        setInterval(answerPings, 5)
      })
      guildhall.on_rpc('hear', () => 'yes')
    `)
    await rpc('deafen')
    expect(await rpc('hear')).toEqual({ error: 'RPC runtime not available' })
    const reason = 'it answers pings and no calls'
    expect(lines('error')).toContainEqual(
      expect.objectContaining({ fields: expect.objectContaining({ reason }) }),
    )
    await until(() => host.readiness().state === 'ready')
    expect(await rpc('hear')).toBe('yes')
  })

  it('[S-REC-2] [S-REL-2] [S-GEN-3] is started anew from the bytes that were read at first', async () => {
    const harness = await startHarness({
      files: {
        'main.ts': `import { name } from './name.ts'
          let calls = 0
          guildhall.on_rpc('name', () => name)
          guildhall.on_rpc('count', () => String(++calls))
          guildhall.on_rpc('exit', () => process.exit())`,
        'name.ts': `export const name: string = 'first'`,
      },
    })
    const { rpc, host, until, folder } = harness
    const before = host.describe().readiness.revision_id
    const { writeFileSync, rmSync } = await import('node:fs')
    writeFileSync(`${folder}/main.ts`, 'not a script {')
    rmSync(`${folder}/name.ts`)
    expect([await rpc('count'), await rpc('count')]).toEqual(['1', '2'])
    await rpc('exit')
    await until(() => host.readiness().state === 'ready')
    expect(await rpc('name')).toBe('first')
    expect(await rpc('count')).toBe('1')
    expect(host.describe().readiness).toMatchObject({ revision_id: before, generation: 2 })
  })

  it('[O-ERR-1] [S-REC-4] is journalled also when it ends while it loads again', async () => {
    const { rpc, journal, lines, until } = await script(`
      const { existsSync, writeFileSync } = process.getBuiltinModule('node:fs')
      const flag = import.meta.dirname + '/flag'
      if (existsSync(flag)) process.exit(3)
      guildhall.on_rpc('exit', () => { writeFileSync(flag, ''); process.exit(2) })
    `)
    await rpc('exit')
    const page = () => journal.page({ offset: 0, limit: 9 })
    await until(() => page().total === 2)
    for (const entry of page().entries) {
      expect(entry).toMatchObject({ category: 'worker', component: 'script' })
    }
    const reason = 'it could not be started again'
    expect(lines('error')).toContainEqual(
      expect.objectContaining({
        message: 'the script worker failed',
        fields: expect.objectContaining({ reason, consecutive_failures: 2 }),
      }),
    )
  })

  it('[S-REC-4] opens the circuit when it fails again and again, and then only probes', async () => {
    const { host, until } = await script(
      `guildhall.on_start(() => process.exit())
       guildhall.on_rpc('x', () => 1)`,
      { restart_limit: 2 },
    )
    await until(() => host.readiness().state === 'unavailable')
    expect(host.describe()).toMatchObject({
      attached: false,
      selected_language: 'typescript',
      script: null,
      readiness: { state: 'unavailable', recovery: { circuit_open: true, restart_limit: 2 } },
    })
    const failures = host.describe().readiness.recovery.consecutive_failures
    expect(failures).toBeGreaterThanOrEqual(2)
    const restarts = host.metrics().script_worker_restarts_total
    await until(() => host.metrics().script_worker_restarts_total > restarts)
  })

  it('[R-SDK-16] leaves a game quiet whose clock stands, and busy while it starts again', async () => {
    const gameClock = createFakeClock()
    const { rpc, host, until } = await startHarness({
      files: { 'main.ts': `guildhall.on_rpc('exit', () => process.exit())` },
      config: { restart_backoff_ms: 1000 },
      gameClock,
    })
    await rpc('exit')
    await until(() => host.isQuiet())
    expect(host.game.serving()).toBe(false)
    await gameClock.advance(2000)
    expect(host.isQuiet()).toBe(false)
    await until(() => host.isQuiet())
    expect(host.game.serving()).toBe(true)
  })

  it('[S-REC-6] makes calls unavailable until it is back', async () => {
    const { rpc, host, message } = await script(
      `guildhall.on_rpc('exit', () => process.exit())
       guildhall.on_message(100, () => {})`,
      { restart_backoff_ms: 60_000, restart_backoff_max_ms: 60_000, require_script: true },
    )
    expect(await message(100)).toBe('ok')
    await rpc('exit')
    expect(host.readiness().state).toBe('degraded')
    expect(await message(100)).toBe('unavailable')
    expect(host.game.handlesKind(100, null)).toBe(false)
    expect(await rpc('exit')).toEqual({ error: 'game script unavailable' })
    expect(host.game.admit()).toBe(false)
    await expect(host.consoleRpc('exit', '')).rejects.toMatchObject({ code: 'runtime_unavailable' })
    host.game.join(player(1))
    host.game.leave(player(1))
    expect(host.metrics()).toMatchObject({
      script_gate_rejections_total: 3,
      script_readiness_state: 4,
    })
  })
})

describe('the memory of a script', () => {
  const keeping = [
    ['buffers that it allocates', 'kept.push(Buffer.alloc(10e6))'],
    ['buffers that it fills', 'kept.push(Buffer.alloc(10e6, 1))'],
    ['arrays of bytes', 'kept.push(new Uint8Array(10e6))'],
    ['the memory of WebAssembly', 'kept.push(new WebAssembly.Memory({ initial: 160 }))'],
    [
      'objects',
      'kept.push(Array.from({ length: 6e4 }, (_, n) => ({ n, at: [n, n, n], name: "n" + n })))',
    ],
  ] as const
  const shared = shareHarness({
    files: {
      'main.ts': `
        const kept: unknown[] = []
        ${keeping
          .map(
            ([, body], n) => `guildhall.on_rpc('keep ${n}', () => { ${body}; return kept.length })`,
          )
          .join('\n')}
        guildhall.on_rpc('count', () => kept.length)`,
    },
    config: { deadline_ms: 5000, memory_mb: 64, restart_limit: keeping.length + 1 },
  })

  it.each(keeping.map(([what], n) => [what, n] as const))(
    '[S-TIER-5] is bounded, whatever it keeps: %s',
    async (_what, n) => {
      const { rpc, host, until, lines } = shared()
      const failed = lines('error').length
      let kept: Awaited<ReturnType<typeof rpc>> = '0'
      for (let calls = 1; calls <= 10 && typeof kept === 'string'; calls += 1) {
        kept = await rpc(`keep ${n}`)
        // Some 10 MB each: well below its memory nothing happens.
        if (calls <= 3) expect(kept).toBe(String(calls))
      }
      expect(kept).toEqual({ error: 'RPC runtime not available' })
      const said = lines('error').slice(failed)
      expect(said.some(({ message }) => message === 'the script worker failed')).toBe(true)
      await until(() => host.readiness().state === 'ready')
      expect(await rpc('count')).toBe('0')
    },
  )

  it('[S-TIER-5] is bounded without any call, too', async () => {
    const { host, until } = await script(
      `const kept: unknown[] = []
       guildhall.on_rpc('keep', () => { setInterval(() => kept.push(Buffer.alloc(10e6)), 10) })`,
      { memory_mb: 64 },
    )
    void host.game.rpc(player(1), 'keep', new Uint8Array(0))
    await until(() => host.metrics().script_worker_restarts_total > 0)
    await until(() => host.readiness().state === 'ready')
  })

  it('[S-TIER-5] does not count what is no longer in use', async () => {
    const { rpc, host } = await script(
      `let last: unknown
       guildhall.on_rpc('use', () => { last = Buffer.alloc(20e6); return last.length })`,
      { deadline_ms: 5000, memory_mb: 64 },
    )
    for (let n = 0; n < 40; n += 1) expect(await rpc('use')).toBe('20000000')
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })
})

describe('a script that misbehaves', () => {
  it('[S-GEN-2] does not end its worker with an error that nobody catches', async () => {
    const { rpc, until, lines } = await script(`
      guildhall.on_rpc('reject', () => { Promise.reject(new Error('unheard')) })
      guildhall.on_rpc('throw', () => { setTimeout(() => { throw new Error('astray') }, 0) })
      guildhall.on_rpc('alive', () => 'yes')
    `)
    await rpc('reject')
    await rpc('throw')
    await until(() => lines('error').length === 2)
    expect(lines('error').map(({ message }) => message)).toEqual([
      'nobody caught an error of the script at main.ts:2: Error: unheard',
      'nobody caught an error of the script at main.ts:3: Error: astray',
    ])
    expect(await rpc('alive')).toBe('yes')
  })

  it.each([
    ['JSON', 'JSON.stringify = JSON.parse = () => { throw 1 }'],
    [
      'Array',
      'for (const n of ["push", "map", "slice", "includes", "find"]) Array.prototype[n] = () => { throw 1 }',
    ],
    [
      'Map and Set',
      'for (const c of [Map, Set]) for (const n of ["get", "set", "has", "delete", "add"]) c.prototype[n] = () => { throw 1 }',
    ],
    [
      'Promise',
      'Promise.prototype.then = Promise.prototype.catch = () => { throw 1 }; globalThis.Promise = null',
    ],
    [
      'Uint8Array',
      'Uint8Array.prototype.set = Uint8Array.prototype.subarray = () => { throw 1 }; globalThis.Uint8Array = null',
    ],
    ['Object', 'Object.prototype.toJSON = () => { throw 1 }; Object.freeze = Object.keys = null'],
    ['Error', 'Error.prepareStackTrace = () => { throw 1 }; globalThis.Error = null'],
    ['the timers', 'globalThis.setImmediate = globalThis.setTimeout = () => 0'],
    ['the process', 'process.exit = () => {}; process.on = null'],
  ])('[S-TIER-1] harms at most its worker when it changes %s', async (_name, tampering) => {
    const { rpc, host, until } = await script(
      `
      guildhall.on_rpc('tamper', () => { ${tampering} })
      guildhall.on_rpc('work', async () => { guildhall.broadcast(100, 'x'); return 'works' })
    `,
      { deadline_ms: 50 },
    )
    await rpc('tamper')
    const outcome = await rpc('work')
    expect([
      'works',
      { error: 'RPC runtime not available' },
      { error: 'RPC handler error' },
      { error: 'RPC handler timed out' },
    ]).toContainEqual(outcome)
    await until(() => host.readiness().state === 'ready')
    if (host.describe().readiness.generation > 1) expect(await rpc('work')).toBe('works')
  })

  it('[S-TIER-4] [O-CFG-8] shows neither the node’s settings nor more lines than the log can bear', async () => {
    const { rpc, until, lines } = await startHarness({
      files: {
        'main.ts': `
          guildhall.on_rpc('env', () => Object.keys(process.env).sort())
          guildhall.on_rpc('print', () => { for (let n = 0; n < 5000; n++) console.log('line ' + n) })
          guildhall.on_rpc('error', () => console.error('to stderr'))`,
      },
      environment: { PATH: '/bin', GUILDHALL_DATABASE__URL: 'secret', guildhall_x: 'secret' },
    })
    expect(await rpc('env')).toBe('["PATH"]')
    await rpc('error')
    await until(() => lines('error').length === 1)
    expect(lines('error')).toMatchObject([{ message: 'to stderr' }])
    await rpc('print')
    await until(() => lines('info').length >= 100)
    expect(lines('info').length).toBeLessThan(1000)
  })

  it('cannot change what it was given', async () => {
    const { rpc } = await script(`
      'use strict'
      const attempts = [
        () => { (globalThis as never as { guildhall: unknown }).guildhall = 1 },
        () => { (guildhall as never as { send: unknown }).send = 1 },
        () => { delete (guildhall as never as { send?: unknown }).send },
        () => { (guildhall.send as never as { x: number }).x = 1 },
      ]
      guildhall.on_rpc('go', () => attempts.filter((attempt) => {
        try { attempt(); return true } catch { return false }
      }).length)
    `)
    expect(await rpc('go')).toBe('0')
  })

  it('[S-WP-6] makes the gateway pause and RPCs wait their turn when it falls behind', async () => {
    const { rpc, host, message } = await script(
      `
      let release: (() => void)[] = []
      guildhall.on_message(100, () => new Promise<void>((resolve) => { release.push(resolve) }))
      guildhall.on_message(101, () => { for (const go of release) go() })
      guildhall.on_join(() => {})
      guildhall.on_rpc('x', () => 1)
    `,
      { inbox_calls: 16 },
    )
    const drained: string[] = []
    host.game.onceDrained(() => drained.push('at once'))
    const messages = Array.from({ length: 16 }, (_, n) => message(100, '', player(n + 1)))
    expect(host.game.congested()).toBe(true)
    host.game.onceDrained(() => drained.push('later'))
    expect(await rpc('x')).toEqual({ error: 'too many requests' })
    host.game.join(player(99))
    expect(drained).toEqual(['at once'])
    expect(await message(101, '', player(50))).toBe('ok')
    expect(await Promise.all(messages)).toEqual(Array(16).fill('ok'))
    expect(host.game.congested()).toBe(false)
    expect(drained).toEqual(['at once', 'later'])
    expect(await rpc('x')).toBe('1')
    expect(host.metrics()).toMatchObject({ script_inbox_calls: 0, script_inbox_full_total: 1 })
  })
})

import { describe, expect, it } from 'vitest'
import { startHarness } from '../../../host.fixture.ts'
import { findPackage } from '../../../process/engine-packages.ts'
import { loadQuickjsModule } from './quickjs-module.ts'
import { type Crossing, QuickjsVm, VmException } from './quickjs-vm.ts'

const mebibyte = 1_048_576
const packageDir = findPackage('quickjs-wasi') ?? ''

/** An engine by itself, and functions of a script in it. */
function createVm(memoryBytes: number, script: string, call = () => undefined) {
  const vm = new QuickjsVm(packageDir, memoryBytes, {
    call,
    ticks: () => 0,
    isLate: () => false,
    resolveModule: (_base, name) => name,
    moduleSource: () => '',
  })
  vm.exposeHost('host')
  const functions = vm.evaluate(script, 'test.js')
  const known = new Map<string, number>()
  return {
    vm,
    call(name: string, ...args: Crossing[]) {
      const fn = known.get(name) ?? vm.member(functions, name)
      known.set(name, fn)
      return vm.call(fn, args)
    },
  }
}

/** What has been thrown by the engine itself, and by nothing beneath it. */
function problemOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof VmException) return error.message
    throw error
  }
  return 'none'
}

const script = `({
  nothing() {},
  echo: (value) => value,
  text: (length) => 'x'.repeat(length),
  bytes: (length) => new Uint8Array(length),
  false: () => Object.create(Uint8Array.prototype),
  detached: () => { const bytes = new Uint8Array(8); bytes.buffer.transfer(); return bytes },
  objects() { globalThis.kept = []; for (;;) kept.push({ n: kept.length }) },
  buffers() { globalThis.kept = []; for (;;) kept.push(new Uint8Array(65536)) },
  pieces() {
    globalThis.kept = new Array(50000)
    for (let round = 2; ; round += 1) {
      for (let n = 0; n < 50000; n += 1) if (n % round !== 0) kept[n] = new Uint8Array(round * 64)
    }
  },
  free() { delete globalThis.kept },
  reject(length) {
    globalThis.kept = []
    for (let n = 0; n < 100; n += 1) kept.push(Promise.reject(new Error('x'.repeat(length))))
  },
  ask(length) {
    try { host(1, 'x'.repeat(length)) } catch (error) { return [error.name, error.code] + '' }
  },
  fail() { try { host(1, '') } catch (error) { return error.name + ': ' + error.message } },
})`

describe('the memory of the sandbox', () => {
  it('[S-TIER-5] ends at its bound, whoever allocates', () => {
    const stub = () => 0
    const names = ['clock_time_get', 'fd_write', 'fd_close', 'fd_fdstat_get', 'fd_seek']
    const env = ['call', 'interrupt', 'promise_rejection', 'module_normalize', 'module_load']
    const module = loadQuickjsModule(packageDir, 2 * mebibyte, {
      env: Object.fromEntries(
        [...env, 'get_timezone_offset'].map((name) => [`host_${name}`, stub]),
      ),
      wasi_snapshot_preview1: Object.fromEntries(
        [...names, 'random_get'].map((name) => [name, stub]),
      ),
    })
    const begun = module.memory.buffer.byteLength
    module._initialize()
    let allocated = 0
    for (; allocated < 1000 && module.wasm_malloc(65_536) !== 0; ) allocated += 1
    expect(allocated).toBeGreaterThan(20)
    expect(allocated).toBeLessThan(50)
    expect(module.memory.buffer.byteLength).toBeLessThanOrEqual(begun + 2 * mebibyte)
  })

  it('[S-TIER-5] is not used up by calls', () => {
    const { call } = createVm(mebibyte, script, () => {
      throw new Error('refused')
    })
    for (let n = 0; n < 70_000; n += 1) call('nothing')
    for (let n = 0; n < 70_000; n += 1) call('fail')
    expect(call('fail')).toBe('Error: refused')
  })

  it.each(['objects', 'buffers', 'pieces'])(
    '[S-TIER-5] [S-REC-1] full of %s is an error of the call, and free again is as before',
    (kind) => {
      const { call } = createVm(4 * mebibyte, script)
      for (let round = 0; round < 3; round += 1) {
        expect(problemOf(() => call(kind))).not.toBe('none')
        for (const value of ['x'.repeat(100_000), new Uint8Array(100_000), 'x', 1, undefined]) {
          const problem = problemOf(() => call('echo', value))
          if (typeof value === 'object') expect(problem).toMatch(/out of memory/)
        }
        while (problemOf(() => call('free')) !== 'none');
        expect(call('echo', 'x'.repeat(100_000))).toHaveLength(100_000)
      }
    },
  )

  it('[S-TIER-5] counts what leaves it before it is copied', () => {
    const { vm, call } = createVm(96 * mebibyte, script)
    const most = 24 * mebibyte
    expect(call('text', most)).toHaveLength(most)
    expect(problemOf(() => call('text', most + 1))).toBe('a value is too large')
    expect(call('bytes', most)).toHaveLength(most)
    expect(problemOf(() => call('bytes', most + 1))).toBe('a value is too large')
    expect(call('ask', most + 1)).toBe('GuildhallError,invalid_argument')
    call('reject', 100_000)
    const lengths = vm.takeRejections().map(({ length }) => length)
    expect(lengths).toHaveLength(100)
    expect(Math.max(...lengths)).toBeLessThan(5000)
    expect(problemOf(() => call('false'))).toMatch(/TypeError/)
    expect(problemOf(() => call('detached'))).toMatch(/none|TypeError/)
  })

  it('[S-TIER-5] [S-TIER-4] a script that hands out too much sees an error, and serves on', async () => {
    const { rpc, host, lines, until } = await startHarness({
      files: {
        'main.mjs': `
        const large = 'x'.repeat(25 * 1048576)
        let count = 0
        guildhall.on_rpc('encode', () => {
          try { guildhall.json.encode(large) } catch (error) { return error.code }
        })
        guildhall.on_rpc('decode', () => {
          try { guildhall.json.decode(large) } catch (error) { return error.code }
        })
        guildhall.on_rpc('reply', () => large)
        guildhall.on_rpc('later', async () => { await null; return { large } })
        guildhall.on_rpc('false', () => Object.create(Uint8Array.prototype))
        guildhall.on_rpc('error', () => { throw new Error(large) })
        guildhall.on_rpc('print', () => { console.log(large) })
        guildhall.on_rpc('count', () => ++count)
      `,
      },
      config: { tier: 'sandboxed', memory_mb: 128, deadline_ms: 5000 },
    })
    expect(await rpc('encode')).toBe('invalid_argument')
    expect(await rpc('decode')).toBe('invalid_argument')
    for (const method of ['reply', 'later', 'false', 'error']) {
      expect(await rpc(method), method).toEqual({ error: 'RPC handler error' })
    }
    expect(await rpc('print')).toBe('')
    await until(() => lines('info').some(({ message }) => message.startsWith('xxx')))
    expect(await rpc('count')).toBe('1')
    expect(host.metrics().script_worker_restarts_total).toBe(0)
  })
})

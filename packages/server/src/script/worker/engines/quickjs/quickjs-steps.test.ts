import { afterEach, describe, expect, it, vi } from 'vitest'
import { findPackage } from '../../../process/engine-packages.ts'
import * as quickjs from './quickjs-module.ts'
import { QuickjsVm } from './quickjs-vm.ts'

const packageDir = findPackage('quickjs-wasi') ?? ''

const script = `({
  steps(n) { for (let at = 0; at < n; at += 1); },
  calls(n) { for (let at = 0; at < n; at += 1) host(1, '') },
})`

/** How often an engine is asked whether it must stop. */
function looks(): (name: string, steps: number) => number {
  let count = 0
  const vm = new QuickjsVm(packageDir, 16_777_216, {
    call: () => undefined,
    ticks: () => {
      count += 1
      return 0
    },
    isLate: () => false,
    resolveModule: (_base, name) => name,
    moduleSource: () => '',
  })
  vm.exposeHost('host')
  const functions = vm.evaluate(script, 'test.js')
  return (name, steps) => {
    count = 0
    vm.call(vm.member(functions, name), [steps])
    return count
  }
}

describe('the steps of the sandbox', () => {
  afterEach(() => vi.restoreAllMocks())

  it('[S-LIM-1] are few between two looks also when they were quick: the next may be slow', () => {
    const of = looks()
    expect(of('steps', 10_000)).toBeGreaterThanOrEqual(10_000 / 4 - 1)
  })

  it('[S-LIM-1] are looked at behind each call of the host, which may be slow', () => {
    const of = looks()
    expect(of('calls', 1000)).toBeGreaterThanOrEqual(1000)
  })

  it('[S-LIM-1] are counted where they are expected, or the engine does not start', () => {
    const load = quickjs.loadQuickjsModule
    vi.spyOn(quickjs, 'loadQuickjsModule').mockImplementation((...args) => {
      const module = load(...args)
      return { ...module, qjs_get_context_ptr: () => module.qjs_get_context_ptr() + 8 }
    })
    expect(looks).toThrow(/does not count its steps where they are expected/)
  })
})

import { AsyncLocalStorage } from 'node:async_hooks'
import { url } from 'node:inspector'
import { flushCompileCache } from 'node:module'
import { promiseHooks } from 'node:v8'
import type { LoadProblem } from '../../../process/load-error.ts'
import type { Invocation } from '../../invocation.ts'
import { createSourceMaps } from '../../source-maps.ts'
import type { Engine, EngineDeps, Scope } from '../engine.ts'
import { describeError } from './describe-error.ts'
import { createGuard } from './guard.ts'
import { buildGuildhall } from './guildhall-object.ts'
import { createLoader, findSyntaxError, ModuleProblem } from './loader.ts'
import { createMemoryBound } from './memory.ts'
import { profileThread } from './profile.ts'

/** Runs TypeScript and JavaScript in the process's own engine, beside the host code. */
export function createJavascriptEngine(deps: EngineDeps): Engine {
  const { settings, clock, exit, asked } = deps
  Error.stackTraceLimit = stackFrames
  const loader = createLoader(settings, asked)
  const places = { roots: loader.roots, sourceOf: createSourceMaps(loader.bytesOf) }
  const memory = createMemoryBound(settings.memoryMb, exit)
  const { scope, abandon } = createScope()

  function problemOf(error: unknown): LoadProblem {
    if (error instanceof ModuleProblem) {
      const { message, file, line } = error
      return { message, file, line }
    }
    const place = describeError(error, places)
    const unplaced = error instanceof SyntaxError && place.file === undefined
    return { ...place, ...(unplaced ? findSyntaxError(loader.files()) : {}) }
  }

  return {
    async load({ entry, files, surface }) {
      Object.defineProperty(globalThis, 'guildhall', { value: buildGuildhall(surface) })
      await loader.load(entry, files)
      // Its process may be killed: nothing is kept then, unless it is written before.
      flushCompileCache()
      // Maps are read now: the deadline of a handler that fails is not for that.
      for (const { path } of loader.files()) places.sourceOf({ file: path, line: 1, column: 1 })
    },
    filesRead: loader.files,
    problemOf,
    describe: (error) => describeError(error, places),
    profile: (durationMs) => profileThread(clock, durationMs),
    inspectorPort: settings.inspects ? inspectorPort() : undefined,
    guard: createGuard({ ...deps, abandon }),
    scope,
    // Its promises never settle, so nothing of it goes on.
    forget() {},
    checkMemory: () => (deps.isAttached() ? undefined : memory.check()),
  }
}

/** Enough to reach the author's code from deep inside of a package. */
const stackFrames = 40

/** It listens from the start of the process on. */
function inspectorPort(): number | undefined {
  const at = url()
  return at === undefined ? undefined : Number(new URL(at).port)
}

function createScope(): { scope: Scope; abandon: () => void } {
  const storage = new AsyncLocalStorage<Invocation>()
  return {
    scope: {
      run: (invocation, fn, a, b) => storage.run(invocation, fn, a, b),
      current: () => storage.getStore(),
      noteSlices(begins) {
        promiseHooks.onBefore(() => {
          const invocation = storage.getStore()
          if (invocation !== undefined) begins(invocation)
        })
      },
    },
    abandon: () => storage.disable(),
  }
}

import type { LoadProblem } from '../../../process/load-error.ts'
import { limits } from '../../../wire/limits.ts'
import type { Surface } from '../../bindings/surface.ts'
import type { ErrorPlace } from '../../errors.ts'
import type { Invocation } from '../../invocation.ts'
import { createSourceMaps } from '../../source-maps.ts'
import type { Engine, EngineDeps, Script } from '../engine.ts'
import { createGuest } from '../guest.ts'
import { createBridge } from './bridge.ts'
import { createModules, type Modules } from './modules.ts'

/** What a script of the sandbox raised. */
export class GuestProblem extends Error {
  override readonly name = 'GuestProblem'
  readonly guestStack: string

  constructor(message: string, stack = '') {
    super(message)
    this.guestStack = stack
  }
}

/** Runs TypeScript and JavaScript in an engine of its own, without any API of Node.js. */
export function createQuickjsEngine(deps: EngineDeps): Engine {
  const { settings, clock, ticks, resume, exit } = deps
  const guest = createGuest(clock)
  let modules: Modules = createModules([])
  let sourceOf = createSourceMaps(() => undefined)
  const bridge = createBridge({
    settings,
    clock,
    ticks,
    guest,
    resume,
    exit,
    modules: () => modules,
    problem: (message, stack) => new GuestProblem(message, stack),
  })

  /** The first place of a stack that lies in a file of the script. */
  function placeIn(stack: string): { file?: string; line?: number } {
    for (const [, file = '', line, column = 1] of stack.matchAll(framePattern)) {
      if (!modules.paths.includes(file)) continue
      return sourceOf({ file, line: Number(line), column: Number(column) })
    }
    return {}
  }

  function describe(error: unknown): ErrorPlace {
    if (!(error instanceof Error)) return { message: cut(String(error)) }
    const place = error instanceof GuestProblem ? placeIn(error.guestStack) : {}
    return { message: cut(error.message), ...place }
  }

  return {
    async load({ entry, files = [], surface }: Script): Promise<void> {
      modules = createModules(files)
      const bytes = new Map(files.map((file) => [file.path, file.bytes]))
      sourceOf = createSourceMaps((path) => bytes.get(path))
      bridge.expose(surface satisfies Surface)
      await bridge.load(entry)
    },
    problemOf(error): LoadProblem {
      const place = describe(error)
      const isSyntax = place.message.startsWith('SyntaxError')
      return { ...place, ...(isSyntax ? modules.findSyntaxError() : {}) }
    },
    describe,
    guard: guest.guard,
    scope: guest.scope,
    forget: (invocation: Invocation) => bridge.forget(invocation),
    // Its memory has a limit of its own.
    checkMemory() {},
  }
}

const framePattern = /(?:\(|at )([^\s()]+?):(\d+)(?::(\d+))?\)?$/gm

function cut(text: string): string {
  return text.length > limits.errorTextChars
    ? `${text.slice(0, limits.errorTextChars)} [cut]`
    : text
}

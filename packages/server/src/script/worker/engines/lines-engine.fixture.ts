import { rowShape } from '../../functions/shapes.ts'
import type { Surface, SurfaceFunction } from '../bindings/surface.ts'
import type { Invocation } from '../invocation.ts'
import { serveNode } from '../serve-node.ts'
import type { Engine, EngineDeps } from './engine.ts'
import { createGuest, type Guest } from './guest.ts'

/**
 * A worker for a language of three statements, which shows what an engine has to bring. Each line
 * is `METHOD STATEMENT ...`; the lines of a method are its handler. `reply TEXT` answers, `call
 * FUNCTION ARGUMENTS` calls a function of `guildhall` with arguments in JSON and waits for it,
 * `spin` never ends.
 */
serveNode(createLinesEngine)

class LineProblem extends Error {
  readonly line: number

  constructor(message: string, line: number) {
    super(message)
    this.line = line
  }
}

type Statement = { readonly word: string; readonly rest: string; readonly line: number }

/** A handler that runs: what is left of it once it has waited. */
type Run = { at: number; reply: string; settle: PromiseWithResolvers<string> | undefined }

async function createLinesEngine({ clock, resume }: EngineDeps): Promise<Engine> {
  const guest = createGuest(clock)
  const waiting = new Map<Invocation, Run>()
  let surface: Surface | undefined
  let entryFile = ''

  /** Runs statements until one has to be waited for. */
  function runOn(handler: readonly Statement[], run: Run, invocation: Invocation): void {
    for (; run.at < handler.length; run.at += 1) {
      const statement = handler[run.at]
      if (!statement) continue
      const { word, rest } = statement
      if (word === 'reply') run.reply = rest
      else if (word === 'spin') spin(guest)
      else if (waits(callLine(surface, statement), handler, { run, invocation })) return
    }
    run.settle?.resolve(run.reply)
  }

  function waits(
    answer: unknown,
    handler: readonly Statement[],
    { run, invocation }: { run: Run; invocation: Invocation },
  ): boolean {
    if (!(answer instanceof Promise)) return false
    run.at += 1
    run.settle ??= Promise.withResolvers()
    waiting.set(invocation, run)
    const goOn = (slice: () => void) => {
      waiting.delete(invocation)
      resume(invocation, slice)
    }
    answer.then(
      (value) =>
        goOn(() => {
          run.reply = JSON.stringify(value)
          runOn(handler, run, invocation)
        }),
      (error: unknown) =>
        goOn(() => {
          throw error
        }),
    )
    return true
  }

  function handle(handler: readonly Statement[]): unknown {
    const invocation = guest.scope.current()
    if (!invocation) throw new Error('a handler is called for an invocation')
    const run: Run = { at: 0, reply: '', settle: undefined }
    runOn(handler, run, invocation)
    return run.settle?.promise ?? run.reply
  }

  return {
    async load({ entry, files = [], surface: given }) {
      surface = given
      entryFile = entry
      const bytes = files.find(({ path }) => path === entry)?.bytes
      const onRpc = given.hooks.find(({ name }) => name === 'on_rpc')?.fn
      for (const [method, handler] of parse(new TextDecoder().decode(bytes))) {
        onRpc?.(method, () => handle(handler))
      }
    },
    problemOf: (error) =>
      error instanceof LineProblem
        ? { message: error.message, file: entryFile, line: error.line }
        : { message: String(error) },
    describe: (error) => ({ message: String(error) }),
    guard: guest.guard,
    scope: guest.scope,
    forget(invocation) {
      if (!waiting.delete(invocation)) return
      surface?.functions.find(({ name }) => name === 'trace')?.fn('a handler is forgotten')
    },
    checkMemory() {},
  }
}

function parse(text: string): Map<string, Statement[]> {
  const handlers = new Map<string, Statement[]>()
  for (const [at, line] of text.trim().split('\n').entries()) {
    const [method = '', word = '', ...rest] = line.split(' ')
    if (!['reply', 'call', 'spin'].includes(word)) {
      throw new LineProblem(`there is no statement ${word}`, at + 1)
    }
    const statements = handlers.get(method) ?? []
    statements.push({ word, rest: rest.join(' '), line: at + 1 })
    handlers.set(method, statements)
  }
  return handlers
}

function spin({ checkTime }: Guest): void {
  for (;;) checkTime()
}

function callLine(surface: Surface | undefined, { rest, line }: Statement): unknown {
  const [name = '', ...args] = rest.split(' ')
  const found = surface?.functions.find((each) => each.name === name)
  if (!found) throw new LineProblem(`there is no function ${name}`, line)
  return found.fn(...args.map((text, at) => argument(found, at, text)))
}

/** As its row has it: bytes and text are what stands there, everything else is JSON. */
function argument({ row }: SurfaceFunction, at: number, text: string): unknown {
  const kind = rowShape(row).args[at]?.shape.kind
  return kind === 'bytes' || kind === 'text' ? text : JSON.parse(text)
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ScriptFile } from '../../wire/revision.ts'
import type { Invocation } from '../invocation.ts'
import { serveNode } from '../serve-node.ts'
import type { Engine, EngineDeps } from './engine.ts'
import { createGuard } from './javascript/guard.ts'

/**
 * A worker for a language of three statements, which shows what an engine has to bring:
 * `reply METHOD TEXT` answers an RPC, `send METHOD KIND TEXT` broadcasts, `spin METHOD` never ends.
 */
serveNode(createLinesEngine)

class LineProblem extends Error {
  readonly line: number

  constructor(message: string, line: number) {
    super(message)
    this.line = line
  }
}

type Guildhall = {
  on_rpc(method: string, handler: () => string): void
  broadcast(kind: number, body: string): void
}

function createLinesEngine({ settings, files, clock }: EngineDeps): Engine {
  const loaded: ScriptFile[] = []
  let current: Invocation | undefined

  function read(entry: string): string {
    const given = files?.find(({ path }) => path === entry)?.bytes
    const bytes = given ?? new Uint8Array(readFileSync(join(settings.scriptsDir, entry)))
    loaded.push({ path: entry, bytes })
    return new TextDecoder().decode(bytes)
  }

  return {
    async load(entry, guildhall) {
      const lines = read(entry).trim().split('\n')
      for (const [at, line] of lines.entries()) runLine(guildhall as Guildhall, line, at + 1)
    },
    files: () => loaded,
    problemOf: (error) =>
      error instanceof LineProblem
        ? { message: error.message, file: loaded[0]?.path, line: error.line }
        : { message: String(error) },
    describe: (error) => ({ message: String(error) }),
    guard: createGuard(clock),
    scope: {
      run(invocation, fn, a, b) {
        current = invocation
        try {
          return fn(a, b)
        } finally {
          current = undefined
        }
      },
      current: () => current,
      abandon() {
        current = undefined
      },
    },
    checkMemory() {},
  }
}

function runLine(guildhall: Guildhall, line: string, at: number): void {
  const [statement, method = '', ...rest] = line.split(' ')
  if (statement === 'reply') {
    guildhall.on_rpc(method, () => rest.join(' '))
  } else if (statement === 'send') {
    guildhall.on_rpc(method, () => {
      guildhall.broadcast(Number(rest[0]), rest.slice(1).join(' '))
      return ''
    })
  } else if (statement === 'spin') {
    guildhall.on_rpc(method, () => {
      for (;;);
    })
  } else throw new LineProblem(`there is no statement ${statement}`, at)
}

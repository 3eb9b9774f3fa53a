import { isUtf8 } from 'node:buffer'
import { isPromise } from 'node:util/types'
import type { Surface } from '../../bindings/surface.ts'
import { FailSignal, GuildhallError, Interrupted } from '../../errors.ts'
import type { Invocation } from '../../invocation.ts'
import type { EngineDeps } from '../engine.ts'
import type { Guest } from '../guest.ts'
import { readMarked, writeArguments, writeMarked } from './marked-json.ts'
import type { Modules } from './modules.ts'
import { preludeSource } from './prelude.ts'
import type { Box } from './quickjs-module.ts'
import { type Crossing, QuickjsVm, VmException } from './quickjs-vm.ts'

type BridgeDeps = Pick<EngineDeps, 'settings' | 'clock' | 'ticks' | 'resume' | 'exit'> & {
  guest: Guest
  modules: () => Modules
  /** What a script raised, as the engine describes it. */
  problem: (message: string, stack: string | undefined) => Error
}

/** One run of a handler inside of the guest. */
type Run = {
  readonly invocation: Invocation | undefined
  readonly settle: PromiseWithResolvers<unknown>
}

/** The host's side of the bridge into the sandboxed engine: calls in both directions. */
export type Bridge = {
  /** Gives the functions of `guildhall` to the script. */
  expose(surface: Surface): void
  /** Runs the top level of a file, and of what it imports. */
  load(entry: string): Promise<unknown>
  forget(invocation: Invocation): void
}

/** What the guest asks for beside the functions of `guildhall`, as the prelude has it. */
const op = {
  settled: -1,
  failed: -2,
  defer: -3,
  print: -4,
  encode: -5,
  decode: -6,
  drained: -7,
} as const
const guestFunctions = [
  'build',
  'load',
  'call',
  'settle',
  'goOn',
  'forget',
  'stop',
  'stopped',
  'release',
] as const
type GuestFunction = (typeof guestFunctions)[number]

const mebibyte = 1_048_576
const signalsMax = 64
/** How long what an interrupted slice has set free may take to say whose it is. */
const drainMs = 20
const none = '[]'

export function createBridge(deps: BridgeDeps): Bridge {
  const { settings, clock, ticks, guest, resume, modules, problem } = deps
  const runs = new Map<number, Run>()
  const functions: ((...args: unknown[]) => unknown)[] = []
  const signals = new Map<number, Error>()
  const released: number[] = []
  let lastRun = 0
  let lastWait = 0
  let lastSignal = 0
  let isStopping = false
  let stopAtMs = Number.POSITIVE_INFINITY

  const vm = new QuickjsVm(settings.packageDir, settings.memoryMb * mebibyte, {
    call: answer,
    ticks,
    isLate,
    resolveModule: (base, name) => modules().resolve(base, name),
    moduleSource: (path) => modules().source(path),
  })
  vm.exposeHost('guildhallHost')
  const own = vm.evaluate(preludeSource, '<guildhall>')
  const guestFunction = Object.fromEntries(
    guestFunctions.map((name) => [name, vm.member(own, name)]),
  ) as { [name in GuestFunction]: Box }
  const collected = new FinalizationRegistry<number>((id) => released.push(id))

  /** The guest calls the host. */
  function answer(id: number, text: string): string | undefined {
    if (id >= 0) {
      if (isStopping) throw new Error('the handler has been interrupted')
      return answerFunction(id, text)
    }
    switch (id) {
      case op.settled: {
        const [run, value] = readList(text)
        take(Number(run))?.settle.resolve(value)
        return undefined
      }
      case op.failed: {
        const [run, error] = readList(text)
        take(Number(run))?.settle.reject(problemOf(error))
        return undefined
      }
      case op.defer: {
        const run = Number(readList(text)[0])
        queueMicrotask(() => goOn(runs.get(run)?.invocation, () => enter('goOn', [run])))
        return undefined
      }
      case op.print:
        print(text)
        return undefined
      case op.drained:
        stopAtMs = 0
        return undefined
      case op.encode:
        return Buffer.from(text).toString('latin1')
      default:
        return decoded(text)
    }
  }

  function answerFunction(id: number, text: string): string | undefined {
    try {
      const result = functions[id]?.(...readList(text))
      if (!isPromise(result)) return result === undefined ? undefined : `v${writeMarked(result)}`
      return `p${wait(result)}`
    } catch (error) {
      return `e${errorText(error)}`
    }
  }

  function wait(result: Promise<unknown>): number {
    lastWait += 1
    const id = lastWait
    const invocation = guest.scope.current()
    const settle = (isOk: boolean, text: string) => {
      if (invocation?.gaveUp) return
      goOn(invocation, () => enter('settle', [id, isOk ? 1 : 0, text]))
    }
    result.then(
      (value) => settle(true, writeMarked(value)),
      (error: unknown) => settle(false, errorText(error)),
    )
    return id
  }

  /** A slice after the first. What is left of a handler that has settled runs outside of it. */
  function goOn(invocation: Invocation | undefined, slice: () => void): void {
    resume(invocation, () => {
      try {
        slice()
      } catch (error) {
        if (invocation?.state !== 'suspended') print(`e${String(error)}`)
        throw error
      }
    })
  }

  /** Runs code of the guest, and all that it sets free. */
  function enter(name: GuestFunction, args: readonly Crossing[]): Crossing {
    try {
      const result = vm.call(guestFunction[name], args)
      vm.runJobs()
      for (const text of vm.takeRejections())
        print(`enobody caught an error of the script: ${text}`)
      return result
    } catch (error) {
      if (!(error instanceof VmException)) throw ended(error)
      if (!guest.isOverdue()) throw problem(error.message, undefined)
      stopJobs()
      throw new Interrupted()
    }
  }

  /** Of an interrupted slice nothing goes on. Whom it woke before goes on all the same. */
  function stopJobs(): void {
    isStopping = true
    const invocation = guest.scope.current()
    if (invocation) forget(invocation)
    stopAtMs = clock.monotonicMs() + drainMs
    callAlone('stop')
    vm.endJobs(mustEndJobs)
    stopAtMs = Number.POSITIVE_INFINITY
    callAlone('stopped')
    isStopping = false
  }

  function forget(invocation: Invocation): void {
    for (const [id, run] of runs) {
      if (run.invocation !== invocation) continue
      runs.delete(id)
      callAlone('forget', [id])
    }
  }

  function isLate(nowMs: number): boolean {
    return isStopping ? nowMs > stopAtMs : guest.isLate(nowMs)
  }

  function mustEndJobs(): boolean {
    return isLate(clock.monotonicMs())
  }

  /** Calls the prelude alone. Where memory does not last for it, time does the rest. */
  function callAlone(name: GuestFunction, args: readonly Crossing[] = []): void {
    try {
      vm.call(guestFunction[name], args)
    } catch (error) {
      if (!(error instanceof VmException)) throw ended(error)
    }
  }

  /** WebAssembly itself has failed: its memory can be trusted no more. */
  function ended(error: unknown): unknown {
    process.stderr.write(`the sandboxed engine has failed: ${String(error)}\n`)
    deps.exit(1)
    return error
  }

  function start(begin: (run: number) => Crossing): unknown {
    lastRun += 1
    const id = lastRun
    const invocation = guest.scope.current()
    const run: Run = { invocation, settle: Promise.withResolvers() }
    runs.set(id, run)
    run.settle.promise.catch(() => {})
    let said: Crossing
    try {
      said = begin(id)
    } catch (error) {
      runs.delete(id)
      throw error
    }
    if (said === 'w') return run.settle.promise
    runs.delete(id)
    if (typeof said !== 'string') return said
    const rest = said.slice(1)
    if (said[0] === 'e') throw problemOf(JSON.parse(rest))
    return said[0] === 't' ? rest : readMarked(rest, handlerOf)
  }

  /** A function of the script as the host calls it. */
  function handlerOf(id: number) {
    const handler = (...args: unknown[]): unknown => {
      releaseHandlers()
      const body = args.at(-1)
      if (!(body instanceof Uint8Array)) {
        const text = args.length === 0 ? none : writeArguments(args)
        return start((run) => enter('call', [id, run, text]))
      }
      const text = writeArguments(args.slice(0, -1))
      return start((run) => enter('call', [id, run, text, body]))
    }
    collected.register(handler, id)
    return handler
  }

  function releaseHandlers(): void {
    for (const id of released.splice(0)) enter('release', [id])
  }

  function take(id: number): Run | undefined {
    const run = runs.get(id)
    runs.delete(id)
    return run
  }

  function readList(text: string): unknown[] {
    const value = readMarked(text, handlerOf)
    return Array.isArray(value) ? value : []
  }

  function errorText(error: unknown): string {
    if (FailSignal.read(error) !== undefined && error instanceof Error) {
      lastSignal += 1
      if (signals.size >= signalsMax) signals.clear()
      signals.set(lastSignal, error)
      return JSON.stringify({ message: error.message, signal: lastSignal })
    }
    const message = error instanceof Error ? error.message : String(error)
    if (!(error instanceof GuildhallError)) return JSON.stringify({ message, code: 'internal' })
    const { code, index, reason } = error
    return JSON.stringify({ message, code, index, reason })
  }

  function problemOf(said: unknown): unknown {
    const { message, stack, signal } = said as {
      message?: unknown
      stack?: string
      signal?: number
    }
    const failure = signal === undefined ? undefined : signals.get(signal)
    return failure ?? problem(String(message), stack)
  }

  return {
    expose({ identity, hooks, functions: rows, guestRooms }) {
      const { node_id, tier, generation, revision_id } = identity
      const listed = [
        ...hooks.map(({ name, fn }) => ({ name, fn, waiting: false })),
        ...rows.map(({ name, fn, row }) => ({ name, fn, waiting: row.runs === 'node' })),
      ].map(({ name, fn, waiting }) => ({ name, waiting, id: functions.push(fn) - 1 }))
      const own = { node_id, tier, generation, revision_id: revision_id() }
      const rooms = guestRooms().map(({ name, fn }) => ({ name, id: functions.push(fn) - 1 }))
      enter('build', [JSON.stringify({ identity: own, functions: listed, rooms })])
    },
    async load(entry) {
      await start((run) => enter('load', [entry, run]))
    },
    forget,
  }
}

/** A line for the process log: its level, then its text. */
function print(text: string): void {
  const stream = text.startsWith('e') ? process.stderr : process.stdout
  stream.write(`${text.slice(1)}\n`)
}

/** Flags, then bytes as characters; undefined when they must be UTF-8 and are not. */
function decoded(text: string): string | undefined {
  const bytes = Buffer.from(text.slice(2), 'latin1')
  if (text[0] === 'f' && !isUtf8(bytes)) return undefined
  return `t${new TextDecoder('utf-8', { ignoreBOM: text[1] === 'k' }).decode(bytes)}`
}

import { type HandlerPlan, jsonPlan, taskPlan } from '../../conversions/plans.ts'
import type { Invocation } from '../../invocation.ts'
import type { Handler } from '../../registry.ts'
import { replyRefusal } from '../../unfit-value.ts'
import type { EngineDeps } from '../engine.ts'
import type { Guest } from '../guest.ts'
import { type LuaMachine, waitsAddress } from './lua-machine.ts'
import { registryIndex, type State } from './lua-module.ts'
import { LuaProblem } from './lua-problem.ts'

/** A coroutine of the host: it runs one handler after another, and waits with them. */
type Run = {
  readonly state: State
  readonly ref: bigint
  invocation: Invocation | undefined
  /** The answer of a handler that waits. */
  settle: PromiseWithResolvers<unknown> | undefined
  plan: HandlerPlan
}

/** Runs functions of the script, each in a coroutine that it may wait in. */
export type LuaRuns = {
  /** A function of the script as the host calls it; it returns a promise when it waits. */
  handlerOf(ref: bigint, plan: HandlerPlan): Handler
  /** Calls what stands in the registry, outside of all handlers: the top level of the script. */
  callOnce(ref: bigint, args: readonly unknown[]): unknown
  forget(invocation: Invocation): void
}

const status = { ok: 0, yield: 1 } as const
const idleMax = 64

export function createLuaRuns(
  machine: LuaMachine,
  { guest, resume, exit }: { guest: Guest } & Pick<EngineDeps, 'resume' | 'exit'>,
): LuaRuns {
  const { lua, main, values } = machine
  const idle: Run[] = []
  const waiting = new Map<Invocation, Set<Run>>()
  const resultsAt = lua._malloc(4)
  /** What a coroutine that begins is to do: it places its arguments itself, if memory lasts. */
  let beginning: { ref: bigint; args: readonly unknown[]; plan: HandlerPlan } | undefined

  /** The first function of each coroutine: calls the handler with its arguments. */
  const begin = lua.addFunction((L = 0) => {
    const begun = beginning
    beginning = undefined
    if (begun === undefined) return 0
    lua._lua_rawgeti(L, registryIndex, begun.ref)
    for (let n = 0; n < begun.args.length; n += 1) {
      values.push(L, begun.args[n], begun.plan.args[n] ?? jsonPlan)
    }
    lua._lua_callk(L, begun.args.length, 1, 0, end)
    return 1
  }, 'ii')
  const end = lua.addFunction(() => 1, 'iiii')

  function take(plan: HandlerPlan): Run {
    const found = idle.pop()
    const run = found ?? create(plan)
    run.plan = plan
    run.invocation = guest.scope.current()
    return run
  }

  function create(plan: HandlerPlan): Run {
    const made = machine.protect(() => {
      const state = lua._lua_newthread(main)
      return { state, ref: machine.keep(main) }
    })
    if (made === undefined) throw new LuaProblem({ message: 'not enough memory' })
    const { state, ref } = made
    return { state, ref, invocation: undefined, settle: undefined, plan }
  }

  function start(ref: bigint, args: readonly unknown[], plan: HandlerPlan): unknown {
    const run = take(plan)
    beginning = { ref, args, plan }
    lua._lua_pushcclosure(run.state, begin, 0)
    const ended = step(run)
    return ended.waits ? run.settle?.promise : ended.value
  }

  /** Lets a coroutine compute until it waits or ends. Throws what it ended with. */
  function step(run: Run): { waits: boolean; value?: unknown } {
    const { state } = run
    machine.wasInterrupted = false
    machine.waitingFor = undefined
    machine.beginSlice(state)
    const ended = resumeLua(state)
    machine.answer = undefined
    const awaited = machine.waitingFor
    if (ended === status.ok && !machine.wasInterrupted) return { waits: false, value: finish(run) }
    // A script may yield by itself, outside of all coroutines.
    const yielded = ended === status.yield && lua._lua_touserdata(state, -1) === waitsAddress
    if (!yielded || awaited === undefined || machine.wasInterrupted) throw fail(run, ended)
    lua._lua_settop(state, 0)
    wait(run, awaited)
    return { waits: true }
  }

  function resumeLua(state: State): number {
    try {
      return lua._lua_resume(state, main, 0, resultsAt)
    } catch (error) {
      // Its memory can be trusted no more.
      process.stderr.write(`the engine of Lua has failed: ${String(error)}\n`)
      exit(1)
      throw error
    }
  }

  function finish(run: Run): unknown {
    const { state, plan, ref } = run
    try {
      return plan.answer && values.read(state, -1, plan.answer)
    } catch (error) {
      throw replyRefusal(error)
    } finally {
      lua._lua_settop(state, 0)
      run.settle = undefined
      if (idle.length < idleMax) idle.push(run)
      else machine.release(ref)
    }
  }

  function fail(run: Run, ended: number): unknown {
    const error =
      ended === status.yield && !machine.wasInterrupted
        ? new Error('a handler yields outside of all coroutines')
        : machine.problemIn(run.state)
    // Variables to be closed see an error; of an interrupt nothing goes on, nor of what yielded.
    if (ended > status.yield && !machine.wasInterrupted) lua._lua_resetthread(run.state)
    machine.release(run.ref)
    return machine.wasInterrupted ? machine.problemIn(run.state) : error
  }

  function wait(run: Run, awaited: Promise<unknown>): void {
    const { invocation } = run
    run.settle ??= Promise.withResolvers()
    if (invocation) {
      const runs = waiting.get(invocation) ?? new Set()
      waiting.set(invocation, runs.add(run))
    }
    awaited.then(
      (value) => goOn(run, true, value),
      (error: unknown) => goOn(run, false, error),
    )
  }

  function goOn(run: Run, ok: boolean, value: unknown): void {
    const { invocation, settle } = run
    const slice = () => {
      machine.answer = { ok, value }
      const ended = step(run)
      if (!ended.waits) settle?.resolve(ended.value)
    }
    if (invocation === undefined) {
      try {
        slice()
      } catch (error) {
        settle?.reject(error)
      }
      return
    }
    const runs = waiting.get(invocation)
    // It has been given up.
    if (!runs?.delete(run)) return
    if (runs.size === 0) waiting.delete(invocation)
    resume(invocation, slice)
  }

  const collected = new FinalizationRegistry<bigint>((ref) => machine.release(ref))

  return {
    handlerOf(ref, plan) {
      const handler: Handler = (...args) => start(ref, args, plan)
      collected.register(handler, ref)
      return handler
    },
    callOnce: (ref, args) => start(ref, args, taskPlan),
    forget(invocation) {
      for (const run of waiting.get(invocation) ?? []) machine.release(run.ref)
      waiting.delete(invocation)
    },
  }
}

import { isPromise } from 'node:util/types'
import {
  type FunctionPlan,
  type HandlerPlan,
  type Plan,
  planFunction,
} from '../../conversions/plans.ts'
import { FailSignal, GuildhallError, Interrupted, invalidArgument } from '../../errors.ts'
import { said } from '../../unfit-value.ts'
import type { EngineDeps } from '../engine.ts'
import type { Guest } from '../guest.ts'
import { createPace, type Pace } from '../pace.ts'
import { firstUpvalue, type LuaModule, luaType, registryIndex, type State } from './lua-module.ts'
import { LuaProblem, placeInTraceback, splitPlace } from './lua-problem.ts'
import { createLuaValues, type LuaValues } from './lua-values.ts'

/** A function of the host as scripts call it. */
export type HostFunction = {
  /** Of one whose arguments have names. */
  readonly name?: string
  readonly plan: FunctionPlan
  /** Whether the handler waits for what it returns. */
  readonly waits: boolean
  readonly fn: (...args: unknown[]) => unknown
  /** How a function that it takes is called. */
  readonly handler?: HandlerPlan
}

/** What the answer of a wait is, for the coroutine that goes on. */
export type Answer = { readonly ok: boolean; readonly value: unknown }

/**
 * One state of Lua and the ways in and out of it: functions of the host that scripts call, errors
 * in both directions, and the hook that counts instructions. Lua unwinds by an exception that is a
 * number, which nothing here may catch.
 */
export class LuaMachine {
  readonly lua: LuaModule
  readonly main: State
  readonly values: LuaValues
  /** Whether the slice that runs is past its deadline: everything it calls raises again. */
  wasInterrupted = false
  /** What the coroutine that runs waits for; it is about to yield. */
  waitingFor: Promise<unknown> | undefined
  /** Of the wait that has ended, until its coroutine has taken it. */
  answer: Answer | undefined
  /** Files of the script by their path. */
  files: ReadonlyMap<string, Uint8Array> = new Map()
  /** What a function of the script is outside. */
  makeHandler: (ref: bigint, plan: HandlerPlan) => unknown = () => undefined
  readonly marks = { array: 0n, failure: 0n, signal: 0n, signals: 0n }
  readonly #pace: Pace
  readonly #functions: HostFunction[] = []
  readonly #dispatch: number
  readonly #continue: number
  readonly #hook: number
  readonly #protected: number
  #work: () => void = () => {}

  constructor(lua: LuaModule, guest: Guest, time: Pick<EngineDeps, 'clock' | 'ticks'>) {
    this.lua = lua
    this.#pace = createPace({ ...time, isLate: guest.isLate }, instructionsPerLook)
    this.main = lua._luaL_newstate()
    lua._luaL_openlibs(this.main)
    this.values = createLuaValues({
      lua,
      arrayMark: () => this.marks.array,
      checkTime: () => guest.checkTime(),
    })
    this.#dispatch = lua.addFunction((L) => this.#call(L ?? 0), 'ii')
    this.#continue = lua.addFunction((L, _status, id) => this.#goOn(L ?? 0, id ?? 0), 'iiii')
    this.#protected = lua.addFunction(() => {
      this.#work()
      return 0
    }, 'ii')
    this.#hook = lua.addFunction((L) => this.#count(L ?? 0), 'vii')
  }

  /** A coroutine begins a slice, and counts its instructions; those that it makes do as well. */
  beginSlice(L: State): void {
    this.lua._lua_sethook(L, this.#hook, countMask, this.#pace.first())
  }

  pushFunction(L: State, made: HostFunction): void {
    this.#functions.push(made)
    this.lua._lua_pushnumber(L, this.#functions.length - 1)
    this.lua._lua_pushcclosure(L, this.#dispatch, 1)
  }

  /** A function of the engine itself, such as the one that finds modules. */
  pushOwnFunction(L: State, fn: (...args: unknown[]) => unknown): void {
    this.pushFunction(L, { plan: ownPlan, waits: false, fn })
  }

  /** A place in the registry that keeps what is on the top of the stack, which is taken off. */
  keep(L: State): bigint {
    return BigInt(this.lua._luaL_ref(L, registryIndex))
  }

  release(ref: bigint): void {
    this.lua._luaL_unref(this.main, registryIndex, Number(ref))
  }

  /**
   * Does what may need memory, where Lua catches that there is none.
   *
   * @returns undefined when there was none
   */
  protect<T>(work: () => T): T | undefined {
    const { lua, main } = this
    let done: { readonly value: T } | undefined
    let failed: { readonly error: unknown } | undefined
    this.#work = () => {
      try {
        done = { value: work() }
      } catch (error) {
        if (typeof error === 'number') throw error
        failed = { error }
      }
    }
    const top = lua._lua_gettop(main)
    lua._lua_pushcclosure(main, this.#protected, 0)
    lua._lua_pcallk(main, 0, 0, 0, 0, 0)
    lua._lua_settop(main, top)
    if (failed) throw failed.error
    return done?.value
  }

  /** What ended a coroutine: its error is on the top of its stack. */
  problemIn(L: State): unknown {
    if (this.wasInterrupted) return new Interrupted()
    const signal = this.#signalAt(L)
    if (signal) return signal
    const text = this.#messageAt(L)
    const placed = splitPlace(text, this.files.keys())
    if (placed.file !== undefined) return new LuaProblem(placed)
    // Where the error left the script, for one that does not say.
    const traceback = this.protect(() => this.#traceback(L)) ?? ''
    return new LuaProblem({ message: text, ...placeInTraceback(traceback, this.files.keys()) })
  }

  #traceback(L: State): string {
    this.lua._luaL_traceback(this.main, L, 0, 0)
    return this.values.readLoosely(this.main, -1)
  }

  #messageAt(L: State): string {
    const { lua, values } = this
    switch (lua._lua_type(L, -1)) {
      case luaType.string:
        return values.readLoosely(L, -1)
      case luaType.table:
        return this.protect(() => this.#messageInTable(L)) ?? 'an error without message'
      default:
        return 'an error that is no text'
    }
  }

  #messageInTable(L: State): string {
    const { lua, values } = this
    values.pushText(L, 'message')
    lua._lua_rawget(L, -2)
    const found = lua._lua_type(L, -1) === luaType.string ? values.readLoosely(L, -1) : undefined
    lua._lua_settop(L, -2)
    return found ?? 'an error that is a table without message'
  }

  #signalAt(L: State): FailSignal | undefined {
    const { lua, values, marks } = this
    if (lua._lua_type(L, -1) !== luaType.table) return undefined
    lua._lua_rawgeti(L, registryIndex, marks.signals)
    lua._lua_pushvalue(L, -2)
    const isKnown = lua._lua_rawget(L, -2) === luaType.string
    const said = isKnown ? values.readLoosely(L, -1) : undefined
    lua._lua_settop(L, -3)
    if (said === undefined) return undefined
    const { text, more } = JSON.parse(said)
    return new FailSignal(text, more)
  }

  /** A script calls a function of the host. */
  #call(L: State): number {
    const { lua } = this
    try {
      const called = this.#functions[lua._lua_tonumberx(L, firstUpvalue, 0)]
      if (called === undefined) throw new TypeError('there is no such function')
      this.#expectTime()
      if (called.waits && lua._lua_isyieldable(L) === 0) throw cannotWait()
      const { fn, plan } = called
      const result = fn(...this.#arguments(L, called))
      if (!isPromise(result)) {
        this.values.push(L, result, plan.ok)
        return 1
      }
      this.waitingFor = result
    } catch (error) {
      if (typeof error === 'number') throw error
      this.#pushError(L, error)
      return lua._lua_error(L)
    }
    lua._lua_pushlightuserdata(L, waitsAddress)
    return lua._lua_yieldk(L, 1, lua._lua_tonumberx(L, firstUpvalue, 0), this.#continue)
  }

  #arguments(L: State, called: HostFunction): unknown[] {
    const { lua } = this
    const { handler } = called
    const count = lua._lua_gettop(L)
    const args: unknown[] = []
    for (let n = 0; n < count; n += 1) {
      const isFunction = handler !== undefined && lua._lua_type(L, n + 1) === luaType.function
      args[n] = isFunction ? this.#handlerAt(L, n + 1, handler) : this.#argument(L, n, called)
    }
    return args
  }

  #argument(L: State, index: number, { name, plan }: HostFunction): unknown {
    const argument = plan.args[index]
    try {
      return this.values.read(L, index + 1, argument ?? anyPlan)
    } catch (error) {
      const text = said(error, name && argument?.name)
      if (text === undefined) throw error
      throw invalidArgument(name === undefined ? text : `${name}: ${text}`)
    }
  }

  #handlerAt(L: State, index: number, plan: HandlerPlan): unknown {
    this.lua._lua_pushvalue(L, index)
    return this.makeHandler(this.keep(L), plan)
  }

  /** A coroutine that waited in a function of the host goes on behind it. */
  #goOn(L: State, id: number): number {
    const { answer, lua } = this
    this.answer = undefined
    try {
      if (answer === undefined) throw new Error('a handler that waits goes on by itself')
      if (!answer.ok) throw answer.value
      this.values.push(L, answer.value, this.#functions[id]?.plan.ok ?? anyPlan)
      return 1
    } catch (error) {
      if (typeof error === 'number') throw error
      this.#pushError(L, error)
    }
    return lua._lua_error(L)
  }

  #pushError(L: State, error: unknown): void {
    const { lua, values, marks } = this
    if (error instanceof Interrupted) {
      this.wasInterrupted = true
      values.pushText(L, 'the deadline has passed')
      return
    }
    const { message } = error instanceof Error ? error : { message: String(error) }
    const signal = FailSignal.read(error)
    lua._lua_createtable(L, 0, 4)
    values.pushText(L, message)
    lua._lua_setfield(L, -2, values.nameAddress(L, 'message'))
    if (signal) this.#keepSignal(L, JSON.stringify(signal))
    else this.#pushDetails(L, error)
    lua._lua_rawgeti(L, registryIndex, signal ? marks.signal : marks.failure)
    lua._lua_setmetatable(L, -2)
  }

  /** Notes what the table on the top of the stack stands for. */
  #keepSignal(L: State, said: string): void {
    const { lua, values, marks } = this
    lua._lua_rawgeti(L, registryIndex, marks.signals)
    lua._lua_pushvalue(L, -2)
    values.pushText(L, said)
    lua._lua_rawset(L, -3)
    lua._lua_settop(L, -2)
  }

  #pushDetails(L: State, error: unknown): void {
    const { lua, values } = this
    const { code, index, reason } =
      error instanceof GuildhallError
        ? error
        : { code: 'internal', index: undefined, reason: undefined }
    for (const [name, value] of Object.entries({ code, index, reason })) {
      if (value === undefined) continue
      values.push(L, value, anyPlan)
      lua._lua_setfield(L, -2, values.nameAddress(L, name))
    }
  }

  /** What the coroutine waits for nobody can wait for: it goes on with an error. */
  refuseWait(): void {
    this.waitingFor?.catch(() => {})
    this.waitingFor = undefined
    this.answer = { ok: false, value: cannotWait() }
  }

  #expectTime(): void {
    if (this.wasInterrupted) throw new Interrupted()
  }

  /** Runs every so many instructions, and from the deadline on at each. */
  #count(L: State): void {
    const { lua } = this
    const count = this.wasInterrupted ? 0 : this.#pace.next()
    if (count > 0) {
      if (lua._lua_gethookcount(L) !== count) lua._lua_sethook(L, this.#hook, countMask, count)
      return
    }
    this.wasInterrupted = true
    lua._lua_sethook(L, this.#hook, countMask, 1)
    this.values.pushText(L, 'the deadline has passed')
    lua._lua_error(L)
  }
}

const countMask = 8
/** Of slow ones more are too many: a call of `sort` is one. */
const instructionsPerLook = 64
/** What a coroutine yields that waits in the host; scripts never see it. */
export const waitsAddress = 2

const ownPlan: FunctionPlan = planFunction({ args: {} })
const anyPlan: Plan = ownPlan.ok

function cannotWait(): GuildhallError {
  const where = 'a function that sort, gsub or a metamethod calls'
  return new GuildhallError('unavailable', `a handler cannot wait inside of ${where}`)
}

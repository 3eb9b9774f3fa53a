import { nameIn } from '../../../functions/guest-names.ts'
import type { LoadProblem } from '../../../process/load-error.ts'
import type { ScriptFile } from '../../../wire/revision.ts'
import type { Surface } from '../../bindings/surface.ts'
import {
  type FunctionPlan,
  jsonPlan,
  planFunction,
  planHandler,
  taskPlan,
} from '../../conversions/plans.ts'
import type { ErrorPlace } from '../../errors.ts'
import type { Engine, EngineDeps, Script } from '../engine.ts'
import { createGuest } from '../guest.ts'
import { type HostFunction, LuaMachine, waitsAddress } from './lua-machine.ts'
import { loadLuaModule } from './lua-module.ts'
import { describeProblem } from './lua-problem.ts'
import { createLuaRuns } from './lua-runs.ts'
import { nullAddress } from './lua-values.ts'
import { sandboxSource } from './sandbox.ts'

/** Runs scripts of Lua 5.4 in WebAssembly: nothing of the host is in reach of them. */
export async function createLuaEngine(deps: EngineDeps): Promise<Engine> {
  const { settings, clock, ticks, resume, exit } = deps
  const lua = await loadLuaModule(settings.packageDir, settings.memoryMb)
  const guest = createGuest(clock)
  const machine = new LuaMachine(lua, guest, { clock, ticks })
  const runs = createLuaRuns(machine, { guest, resume, exit })
  machine.makeHandler = runs.handlerOf
  const L = machine.main

  /** Runs the sandbox's source, which answers marks and what runs the script's files. */
  function openSandbox(surface: Surface): bigint {
    const { _lua_pcallk, _lua_pushlightuserdata, _lua_settop } = lua
    loadText(sandboxSource)
    pushOwnFunctions(surface)
    pushGuildhall(surface)
    _lua_pushlightuserdata(L, waitsAddress)
    if (_lua_pcallk(L, 3, 5, 0, 0, 0) !== 0) throw machine.problemIn(L)
    const read = machine.keep(L)
    machine.marks.signals = machine.keep(L)
    machine.marks.signal = machine.keep(L)
    machine.marks.failure = machine.keep(L)
    machine.marks.array = machine.keep(L)
    _lua_settop(L, 0)
    return read
  }

  function loadText(text: string): void {
    machine.values.pushText(L, text)
    const bytes = Buffer.byteLength(text)
    const at = lua._lua_tolstring(L, -1, 0)
    const name = machine.values.nameAddress(L, '=guildhall')
    if (lua._luaL_loadbufferx(L, at, bytes, name, 0) !== 0) throw machine.problemIn(L)
  }

  /** What the sandbox's source itself calls. */
  function pushOwnFunctions({ guestRooms }: Surface): void {
    const own = {
      is_overdue: () => machine.wasInterrupted || guest.isOverdue(),
      check_time: () => guest.checkTime(),
      refuse_wait: () => machine.refuseWait(),
      print: (line: unknown) => void process.stdout.write(`${String(line)}\n`),
      find: (name: unknown) => findModule(String(name)),
      text: (path: unknown) => machine.files.get(String(path)),
    }
    lua._lua_createtable(L, 0, 8)
    for (const [name, fn] of Object.entries(own)) {
      machine.pushOwnFunction(L, fn)
      setField(name)
    }
    for (const { name, fn, bytesAt, handler } of guestRooms()) {
      const planAt = (n: number) => ({ ...jsonPlan, strings: n === bytesAt ? 'bytes' : 'text' })
      const args = [0, 1, 2, 3, 4].map((n) => ({ ...planAt(n), name: String(n) }) as const)
      const plan = { args, hasOptions: false, ok: jsonPlan } as FunctionPlan
      machine.pushFunction(L, { plan, waits: false, fn, handler })
      setField(`room_${name}`)
    }
  }

  function findModule(name: string): string | undefined {
    const stem = name === 'main' ? 'main' : name.replaceAll('.', '/')
    const paths = [`${stem}.lua`, `${stem}/init.lua`, `${stem}.json`]
    // Shared folders stand beside the script's own, and are found by their names.
    const all = [...paths, ...paths.map((path) => `../${path}`)]
    return all.find((path) => machine.files.has(path))
  }

  function pushGuildhall({ identity, hooks, functions }: Surface): void {
    lua._lua_createtable(L, 0, 64)
    const { node_id, tier, generation, revision_id } = identity
    const own = { node_id, tier, generation, revision_id: revision_id() }
    for (const [name, value] of Object.entries(own)) {
      machine.values.push(L, value, planFunction({ args: {} }).ok)
      setField(name)
    }
    for (const { name, fn, row } of hooks) {
      const made = { plan: planFunction({ args: {} }), waits: false, fn, handler: planHandler(row) }
      place(name, made)
    }
    for (const { name, fn, row } of functions) {
      const plan = planFunction(row)
      place(name, { name, plan, waits: row.runs === 'node', fn, handler: taskPlan })
    }
    lua._lua_getfield(L, -1, machine.values.nameAddress(L, 'json'))
    lua._lua_pushlightuserdata(L, nullAddress)
    setField('null')
    lua._lua_settop(L, -2)
  }

  /** Sets a function in `guildhall`, or in the table of it that holds its family. */
  function place(name: string, made: HostFunction): void {
    const [space = '', member] = name.split('.')
    if (member === undefined) {
      machine.pushFunction(L, made)
      setField(space)
      return
    }
    if (lua._lua_getfield(L, -1, machine.values.nameAddress(L, space)) === 0) {
      lua._lua_settop(L, -2)
      lua._lua_createtable(L, 0, 8)
      lua._lua_pushvalue(L, -1)
      lua._lua_setfield(L, -3, machine.values.nameAddress(L, space))
    }
    machine.pushFunction(L, made)
    setField(member)
    lua._lua_settop(L, -2)
  }

  /** Of the table below what is on the top of the stack. */
  function setField(name: string): void {
    lua._lua_setfield(L, -2, machine.values.nameAddress(L, nameIn('lua', name)))
  }

  return {
    async load({ entry, files = [], surface }: Script): Promise<void> {
      machine.files = new Map(files.map(({ path, bytes }) => [path, withoutMark(bytes)]))
      const read = openSandbox(surface)
      await runs.callOnce(read, [entry])
    },
    problemOf: (error): LoadProblem => describeProblem(error),
    describe: (error): ErrorPlace => describeProblem(error),
    guard: guest.guard,
    scope: guest.scope,
    forget: runs.forget,
    // Its memory cannot grow beyond its bound.
    checkMemory() {},
  }
}

/** A byte order mark is no part of a file. */
function withoutMark(bytes: ScriptFile['bytes']): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}

import { createRequire } from 'node:module'
import { join } from 'node:path'

/** A state of Lua, main or coroutine, by its address. */
export type State = number

/**
 * The C functions of Lua 5.4 as the WebAssembly module exports them, and its memory. Integers of 64
 * bits are bigint; a string is an address.
 */
export type LuaModule = {
  readonly HEAPU8: Uint8Array
  readonly HEAPU32: Uint32Array
  addFunction(fn: (...args: number[]) => unknown, signature: string): number
  _malloc(bytes: number): number
  _free(address: number): void
  _luaL_newstate(): State
  _luaL_openlibs(L: State): void
  _luaL_loadbufferx(L: State, text: number, bytes: number, name: number, mode: number): number
  _luaL_ref(L: State, table: number): number
  _luaL_unref(L: State, table: number, ref: number): void
  _luaL_traceback(L: State, of: State, message: number, level: number): void
  _luaL_where(L: State, level: number): void
  _lua_callk(L: State, args: number, results: number, context: number, k: number): void
  _lua_pcallk(
    L: State,
    args: number,
    results: number,
    handler: number,
    context: number,
    k: number,
  ): number
  _lua_checkstack(L: State, slots: number): number
  _lua_createtable(L: State, items: number, members: number): void
  _lua_error(L: State): number
  _lua_getmetatable(L: State, index: number): number
  _lua_getfield(L: State, index: number, name: number): number
  _lua_gethookcount(L: State): number
  _lua_gettop(L: State): number
  _lua_isinteger(L: State, index: number): number
  _lua_isyieldable(L: State): number
  _lua_newthread(L: State): State
  _lua_next(L: State, index: number): number
  _lua_pushboolean(L: State, value: number): void
  _lua_pushcclosure(L: State, fn: number, upvalues: number): void
  _lua_pushinteger(L: State, value: bigint): void
  _lua_pushlightuserdata(L: State, address: number): void
  _lua_pushlstring(L: State, text: number, bytes: number): number
  _lua_pushnil(L: State): void
  _lua_pushnumber(L: State, value: number): void
  _lua_pushvalue(L: State, index: number): void
  _lua_rawequal(L: State, a: number, b: number): number
  _lua_rawget(L: State, index: number): number
  _lua_rawgeti(L: State, index: number, n: bigint): number
  _lua_rawset(L: State, index: number): void
  _lua_rawseti(L: State, index: number, n: bigint): void
  _lua_resetthread(L: State): number
  _lua_resume(L: State, from: State, args: number, results: number): number
  _lua_setfield(L: State, index: number, name: number): void
  _lua_setglobal(L: State, name: number): void
  _lua_sethook(L: State, hook: number, mask: number, count: number): void
  _lua_setmetatable(L: State, index: number): number
  _lua_settop(L: State, index: number): void
  _lua_toboolean(L: State, index: number): number
  _lua_tointegerx(L: State, index: number, isNumber: number): bigint
  _lua_tolstring(L: State, index: number, bytes: number): number
  _lua_tonumberx(L: State, index: number, isNumber: number): number
  _lua_touserdata(L: State, index: number): number
  _lua_type(L: State, index: number): number
  _lua_xmove(from: State, to: State, count: number): void
  _lua_yieldk(L: State, results: number, context: number, k: number): number
}

/** The numbers that Lua has for its types. */
export const luaType = {
  nil: 0,
  boolean: 1,
  lightuserdata: 2,
  number: 3,
  string: 4,
  table: 5,
  function: 6,
} as const

export const registryIndex = -1_001_000

/** Where a function of the host finds what it was made with. */
export const firstUpvalue = registryIndex - 1

const mebibyte = 1_048_576

/** Loads the module. Its memory never grows by more than the script may have. */
export async function loadLuaModule(packageDir: string, memoryMb: number): Promise<LuaModule> {
  const load = createRequire(import.meta.url)
  const { LuaWasm }: typeof import('wasmoon') = load(join(packageDir, 'dist/index.js'))
  // It warns on the console of each growth that is refused.
  const { error, warn } = console
  console.error = () => {}
  console.warn = () => {}
  const exportsOf = seeExports()
  const { module } = await LuaWasm.initialize()
  console.error = error
  console.warn = warn
  boundMemory(module.HEAPU8.byteLength + memoryMb * mebibyte)
  // What the package puts around each function checks more than most of them do.
  for (const [name, exported] of Object.entries(exportsOf())) {
    if (typeof exported === 'function') Reflect.set(module, `_${name}`, exported)
  }
  return module as unknown as LuaModule
}

/** Sees what the next module of WebAssembly exports. */
function seeExports(): () => object {
  const api = webAssembly()
  const { instantiate } = api
  let seen = {}
  api.instantiate = async (module, imports) => {
    api.instantiate = instantiate
    const made = await instantiate(module, imports)
    seen = made.instance.exports
    return made
  }
  return () => seen
}

/**
 * Holds every memory of WebAssembly in this process to a size. To Lua there is no more, and it
 * raises an error that the script may catch.
 */
function boundMemory(bytesMax: number): void {
  const { prototype } = webAssembly().Memory
  const { grow } = prototype
  prototype.grow = function (pages) {
    if (this.buffer.byteLength + pages * pageBytes > bytesMax) throw new RangeError('no memory')
    return Reflect.apply(grow, this, [pages])
  }
}

const pageBytes = 65_536

/** What is used here of WebAssembly, whose types come with those of browsers. */
type WebAssemblyOfHost = {
  readonly Memory: { readonly prototype: Memory }
  instantiate(module: unknown, imports: unknown): Promise<Made>
}
type Memory = { readonly buffer: ArrayBuffer; grow(this: Memory, pages: number): number }
type Made = { readonly instance: { readonly exports: object } }

function webAssembly(): WebAssemblyOfHost {
  return Reflect.get(globalThis, 'WebAssembly')
}

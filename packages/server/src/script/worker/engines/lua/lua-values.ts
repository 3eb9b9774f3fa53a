import { isUtf8 } from 'node:buffer'
import { charsMax } from '../../arguments.ts'
import { jsonPlan, type Plan } from '../../conversions/plans.ts'
import { invalidArgument } from '../../errors.ts'
import { HostMap } from '../../host-map.ts'
import { inside, UnfitValue } from '../../unfit-value.ts'
import { type LuaModule, luaType, registryIndex, type State } from './lua-module.ts'

/** What the values of Lua are made of and read by. */
export type LuaValues = {
  /**
   * Places a value on the stack. Runs where Lua catches its errors: there may be no memory for it.
   */
  push(L: State, value: unknown, plan: Plan): void
  pushText(L: State, text: string): void
  /**
   * What stands at a place of the stack; an index from the bottom.
   *
   * @throws GuildhallError `invalid_argument` for what the plan does not take
   */
  read(L: State, index: number, plan: Plan): unknown
  /** The beginning of a string for people: bytes that are no text are shown as they can be. */
  readLoosely(L: State, index: number): string
  /** The address of a name that never changes, as C has it. */
  nameAddress(L: State, name: string): number
}

type Deps = {
  lua: LuaModule
  /** Which table marks a list, by its place in the registry. */
  arrayMark: () => bigint
  /** Reading a large table takes time. */
  checkTime: () => void
}

/** Stands for null inside of JSON: the only address that scripts ever get. */
export const nullAddress = 1

const levelsMax = 64
const scratchBytes = 65_536
const slotsPerLevel = 8
/** Values between two looks at the time. */
const valuesPerLook = 4096
const encoder = new TextEncoder()

export function createLuaValues({ lua, arrayMark, checkTime }: Deps): LuaValues {
  const scratch = lua._malloc(scratchBytes)
  const lengthAt = lua._malloc(4)
  const names = new HostMap<string, number>()
  let read = 0
  let chars = 0

  function count(more: number): void {
    chars += more
    if (chars > charsMax) throw invalidArgument('a value is too large')
  }

  function pushBytes(L: State, bytes: Uint8Array): void {
    withBytes(L, bytes, (at) => lua._lua_pushlstring(L, at, bytes.length))
  }

  function withBytes(L: State, bytes: Uint8Array, use: (at: number) => void): void {
    if (bytes.length <= scratchBytes) {
      lua.HEAPU8.set(bytes, scratch)
      use(scratch)
      return
    }
    const at = lua._malloc(bytes.length)
    if (at === 0) raiseNoMemory(L)
    lua.HEAPU8.set(bytes, at)
    try {
      use(at)
    } finally {
      lua._free(at)
    }
  }

  /** As Lua itself raises it: what is thrown is its own way out. */
  function raiseNoMemory(L: State): never {
    pushText(L, 'not enough memory')
    lua._lua_error(L)
    throw new Error('Lua has raised its error')
  }

  function pushText(L: State, text: string): void {
    if (text.length * 3 > scratchBytes) {
      pushBytes(L, encoder.encode(text))
      return
    }
    const { HEAPU8 } = lua
    let length = 0
    for (; length < text.length && length < shortText; length += 1) {
      const code = text.charCodeAt(length)
      if (code > 127) break
      HEAPU8[scratch + length] = code
    }
    if (length < text.length) {
      const space = HEAPU8.subarray(scratch, scratch + scratchBytes)
      length = encoder.encodeInto(text, space).written
    }
    lua._lua_pushlstring(L, scratch, length)
  }

  function nameAddress(L: State, name: string): number {
    const known = names.get(name)
    if (known !== undefined) return known
    const bytes = encoder.encode(`${name}\0`)
    const at = lua._malloc(bytes.length)
    if (at === 0) raiseNoMemory(L)
    lua.HEAPU8.set(bytes, at)
    names.set(name, at)
    return at
  }

  function pushNumber(L: State, value: number): void {
    if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) {
      lua._lua_pushinteger(L, BigInt(value))
    } else lua._lua_pushnumber(L, value)
  }

  function push(L: State, value: unknown, plan: Plan): void {
    switch (typeof value) {
      case 'undefined':
        lua._lua_pushnil(L)
        return
      case 'boolean':
        lua._lua_pushboolean(L, value ? 1 : 0)
        return
      case 'number':
        pushNumber(L, value)
        return
      case 'bigint':
        lua._lua_pushinteger(L, value)
        return
      case 'string':
        pushText(L, value)
        return
      case 'object':
        if (value !== null) pushObject(L, value, plan)
        else if (plan.isJson) lua._lua_pushlightuserdata(L, nullAddress)
        else lua._lua_pushnil(L)
        return
      default:
        throw new TypeError(`a ${typeof value} has no place in Lua`)
    }
  }

  function pushObject(L: State, value: object, plan: Plan): void {
    if (value instanceof Uint8Array) {
      pushBytes(L, value)
      return
    }
    lua._lua_checkstack(L, slotsPerLevel)
    if (Array.isArray(value)) pushList(L, value, plan.each ?? jsonPlan)
    else if (plan.members) pushMembers(L, value, plan.members)
    else pushRecord(L, value, plan.each ?? jsonPlan)
  }

  function pushList(L: State, items: readonly unknown[], each: Plan): void {
    lua._lua_createtable(L, items.length, 0)
    for (let n = 0; n < items.length; n += 1) {
      push(L, items[n], each)
      lua._lua_rawseti(L, -2, BigInt(n + 1))
    }
    lua._lua_rawgeti(L, registryIndex, arrayMark())
    lua._lua_setmetatable(L, -2)
  }

  function pushMembers(L: State, value: object, members: { readonly [name: string]: Plan }): void {
    lua._lua_createtable(L, 0, 8)
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined || member === null) continue
      push(L, member, members[name] ?? jsonPlan)
      lua._lua_setfield(L, -2, nameAddress(L, name))
    }
  }

  function pushRecord(L: State, value: object, each: Plan): void {
    lua._lua_createtable(L, 0, 0)
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue
      pushText(L, name)
      push(L, member, each)
      lua._lua_rawset(L, -3)
    }
  }

  /** A view of a string's bytes, until Lua goes on. */
  function bytesAt(L: State, index: number): Buffer {
    const at = lua._lua_tolstring(L, index, lengthAt)
    const { HEAPU8, HEAPU32 } = lua
    return Buffer.from(HEAPU8.buffer, at, HEAPU32[lengthAt >> 2])
  }

  function readText(L: State, index: number): string {
    const bytes = bytesAt(L, index)
    // What cannot be few enough characters is not copied.
    if (bytes.length > 3 * charsMax) count(bytes.length)
    if (!isUtf8(bytes)) throw new UnfitValue('is not UTF-8')
    const text = bytes.toString('utf8')
    count(text.length)
    return text
  }

  function readBytes(L: State, index: number): Uint8Array {
    const bytes = bytesAt(L, index)
    count(bytes.length)
    return new Uint8Array(bytes)
  }

  function readNumber(L: State, index: number): number | bigint {
    const value = lua._lua_tonumberx(L, index, 0)
    if (lua._lua_isinteger(L, index) === 0 || Number.isSafeInteger(value)) return value
    return lua._lua_tointegerx(L, index, 0)
  }

  function readValue(L: State, index: number, plan: Plan, level: number): unknown {
    read += 1
    if (read % valuesPerLook === 0) checkTime()
    switch (lua._lua_type(L, index)) {
      case luaType.nil:
        return plan.takesNull ? null : undefined
      case luaType.boolean:
        return lua._lua_toboolean(L, index) !== 0
      case luaType.lightuserdata:
        return null
      case luaType.number:
        return readNumber(L, index)
      case luaType.string:
        return plan.strings === 'bytes' ? readBytes(L, index) : readText(L, index)
      case luaType.table:
        return readTable(L, index, plan, level)
      case luaType.function:
        return noValue
      default:
        return Symbol('userdata')
    }
  }

  function readTable(L: State, index: number, plan: Plan, level: number): unknown {
    if (level >= levelsMax) throw invalidArgument('a value has more than 64 levels')
    if (lua._lua_checkstack(L, slotsPerLevel) === 0) throw invalidArgument('too many levels')
    const list: unknown[] = []
    const members: { [name: string]: unknown } = {}
    let items = 0
    let named = 0
    const at = index > 0 ? index : lua._lua_gettop(L) + 1 + index
    lua._lua_pushnil(L)
    while (lua._lua_next(L, at) !== 0) {
      const top = lua._lua_gettop(L)
      const key = readKey(L, top - 1)
      if (typeof key === 'number') items += 1
      else named += 1
      const inner = (typeof key === 'string' ? plan.members?.[key] : undefined) ?? plan.each
      const value = readInside(L, top, { key, plan: inner ?? jsonPlan, level: level + 1 })
      if (typeof key === 'number') list[key - 1] = value
      else setMember(members, key, value)
      lua._lua_settop(L, top - 1)
    }
    const isList = items > 0 || isMarked(L, at) || (plan.holds === 'list' && named === 0)
    if (isList && named > 0) throw new UnfitValue('has items and members')
    if (list.length !== items) throw new UnfitValue('is a list with holes')
    return isList ? list : members
  }

  type Inside = { key: string | number; plan: Plan; level: number }

  function readInside(L: State, index: number, { key, plan, level }: Inside): unknown {
    try {
      return readValue(L, index, plan, level)
    } catch (error) {
      throw inside(typeof key === 'number' ? key - 1 : key, error)
    }
  }

  function readKey(L: State, index: number): string | number {
    const type = lua._lua_type(L, index)
    if (type === luaType.string) return readText(L, index)
    const key = lua._lua_isinteger(L, index) === 0 ? 0 : lua._lua_tonumberx(L, index, 0)
    if (type !== luaType.number || key < 1 || key > itemsMax) {
      throw new UnfitValue('has a key that is neither a text nor 1..n')
    }
    return key
  }

  function isMarked(L: State, index: number): boolean {
    if (lua._lua_getmetatable(L, index) === 0) return false
    lua._lua_rawgeti(L, registryIndex, arrayMark())
    const equal = lua._lua_rawequal(L, -1, -2) !== 0
    lua._lua_settop(L, -3)
    return equal
  }

  return {
    push,
    pushText,
    read(L, index, plan) {
      chars = 0
      return readValue(L, index, plan, 0)
    },
    readLoosely: (L, index) => bytesAt(L, index).toString('utf8', 0, looseBytesMax),
    nameAddress,
  }
}

const shortText = 64
const looseBytesMax = 65_536
const itemsMax = 8_388_608

/** A function where none is taken: what takes the value refuses it. */
const noValue = () => {}

function setMember(members: { [name: string]: unknown }, name: string, value: unknown): void {
  if (name !== '__proto__') members[name] = value
  else Object.defineProperty(members, name, { value, enumerable: true })
}

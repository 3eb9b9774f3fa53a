import { int64Max, int64Min, type ScriptFunction } from '@guildhall/contract'
import { takesBytes } from '../functions/shapes.ts'
import { invalidArgument } from './errors.ts'
import { inside, replyRefusal, said, UnfitValue } from './unfit-value.ts'

/** A value of the script as it leaves the worker: JSON with bigint and bytes. */
export type Plain =
  | undefined
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Plain[]
  | { [name: string]: Plain }

const levelsMax = 64
/** Characters and bytes of all arguments of one call. */
export const charsMax = 8_388_608

const stringify = JSON.stringify
const { isArray } = Array
const { isFinite: isFiniteNumber } = Number
const { keys } = Object
const { isWellFormed } = String.prototype
const toKind = Object.prototype.toString
const rawJson: unknown = Reflect.get(JSON, 'rawJSON')

/**
 * Copies the arguments of a call, so that what the script changes later changes nothing, and what
 * cannot leave the worker is refused at the call: functions, symbols, cycles, numbers that are not
 * finite, integers beyond 64 bits, and what throws when it is read.
 *
 * @throws GuildhallError with an index where one of several operations is refused
 */
export function copyArguments(
  name: string,
  row: Pick<ScriptFunction, 'args' | 'operations'>,
  given: readonly unknown[],
): Plain[] {
  const { args, operations } = row
  const copier = new Copier(row)
  const listAt = operations === undefined ? -1 : keys(args).indexOf(operations)
  const copied: Plain[] = []
  try {
    let count = given.length
    // Trailing arguments that are undefined were not given.
    while (count > 0 && given[count - 1] === undefined) count -= 1
    for (let n = 0; n < count; n += 1) {
      const argument = given[n]
      const isList = n === listAt && isArray(argument)
      copied[n] = isList ? copier.copyOperations(argument) : copier.copy(argument, 0)
    }
    return copied
  } catch (error) {
    const text = said(error, keys(args)[copied.length]) ?? 'an argument cannot be read'
    throw invalidArgument(`${name}: ${text}`, copier.index)
  }
}

/** A JSON value of the script: like an argument, but without bytes and anything undefined. */
export function copyJson(name: string, value: unknown, argument = ''): Plain {
  try {
    return new Copier().copy(value, 0)
  } catch (error) {
    throw invalidArgument(`${name}: ${said(error, argument) ?? 'the value cannot be read'}`)
  }
}

/**
 * Refuses in an RPC's reply what `json.encode` refuses, except members that are undefined: they are
 * left out.
 *
 * @throws GuildhallError `invalid_argument`
 */
export function expectReply(value: unknown): void {
  try {
    expectJson(value, 0)
  } catch (error) {
    throw replyRefusal(error)
  }
}

function expectJson(value: unknown, level: number): void {
  switch (typeof value) {
    case 'boolean':
      return
    case 'bigint':
      expectInt64(value)
      return
    case 'string':
      expectText(value)
      return
    case 'number':
      if (!isFiniteNumber(value)) throw new UnfitValue(`is ${value}, which is no JSON`)
      return
    case 'object':
      if (value !== null) expectJsonObject(value, level)
      return
    default:
      throw noJson(value)
  }
}

function expectJsonObject(value: object, level: number): void {
  if (level >= levelsMax) throw invalidArgument('a value has more than 64 levels')
  const isList = isArray(value)
  if (!isList) {
    if ('toJSON' in value && typeof value.toJSON === 'function') return
    expectPlain(value)
  }
  let at: string | number = 0
  try {
    if (isList) for (at = 0; at < value.length; at += 1) expectJson(value[at], level + 1)
    else {
      for (at of keys(value)) {
        expectText(at)
        const member: unknown = Reflect.get(value, at)
        if (member !== undefined) expectJson(member, level + 1)
      }
    }
  } catch (error) {
    throw inside(at, error)
  }
}

/** A Map, a Promise that was not awaited and the like have nothing in them to copy. */
function expectPlain(value: object): void {
  const kind = kindOf(value)
  if (kind !== '[object Object]') throw new UnfitValue(`is ${kind}, which is no JSON`)
}

/**
 * The JSON text of a value; a bigint is written as an integer.
 *
 * @throws GuildhallError `invalid_argument` for an integer beyond 64 bits
 */
export function toJson(value: unknown): string | undefined {
  try {
    return stringify(value)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    // A bigint, or a cycle: then this throws it again.
    return stringify(value, writeBigInt)
  }
}

/** What the engine calls an object, e.g. `[object Map]`; a list is `[object Array]`. */
export function kindOf(value: object): string {
  return String(Reflect.apply(toKind, value, []))
}

function writeBigInt(_name: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value
  expectInt64(value)
  return typeof rawJson === 'function' ? rawJson(`${value}`) : Number(value)
}

function expectInt64(value: bigint): void {
  if (value < int64Min || value > int64Max) {
    throw new UnfitValue('is an integer beyond 64 bits')
  }
}

/** A lone surrogate is no character, and has no UTF-8. */
export function expectText(text: string): void {
  if (!Reflect.apply(isWellFormed, text, [])) throw new UnfitValue('has a lone surrogate')
}

/** Copies the values of one call. */
class Copier {
  readonly #row: Pick<ScriptFunction, 'args'> | undefined
  /** Known from the first bytes on: to find it out takes longer than to copy most of them. */
  #takesBytes: boolean | undefined
  #chars = 0
  /** Which of several operations is being copied. */
  index: number | undefined

  /**
   * @param row the function whose arguments are copied; without one it is JSON, which has neither
   *   bytes nor anything undefined
   */
  constructor(row?: Pick<ScriptFunction, 'args'>) {
    this.#row = row
  }

  copyOperations(list: readonly unknown[]): Plain[] {
    this.#count(list.length)
    const copied: Plain[] = []
    try {
      for (let n = 0; n < list.length; n += 1) {
        this.index = n
        copied[n] = this.copy(list[n], 1) ?? null
      }
    } catch (error) {
      throw inside(copied.length, error)
    }
    this.index = undefined
    return copied
  }

  copy(value: unknown, level: number): Plain {
    switch (typeof value) {
      case 'undefined':
        if (this.#row === undefined) throw noJson(value)
        return value
      case 'boolean':
        return value
      case 'string':
        expectText(value)
        this.#count(value.length)
        return value
      case 'number':
        if (!isFiniteNumber(value)) throw new UnfitValue(`is ${value}, which is no JSON`)
        return value
      case 'bigint':
        expectInt64(value)
        return value
      case 'object':
        return value === null ? null : this.#copyObject(value, level)
      default:
        throw noJson(value)
    }
  }

  #count(more: number): void {
    this.#chars += more
    if (this.#chars > charsMax) throw invalidArgument('the arguments are too large')
  }

  #copyObject(value: object, level: number): Plain {
    if (level >= levelsMax) throw invalidArgument('a value has more than 64 levels')
    if (value instanceof Uint8Array) {
      if (this.#row === undefined) throw bytesAreNoJson()
      this.#count(value.length)
      this.#expectBytes(this.#row, level)
      return new Uint8Array(value)
    }
    if (isArray(value)) {
      this.#count(value.length)
      return this.#copyItems(value, level)
    }
    if ('toJSON' in value && typeof value.toJSON === 'function') {
      return this.copy(value.toJSON(), level + 1)
    }
    expectPlain(value)
    return this.#copyMembers(value, level)
  }

  #copyItems(value: readonly unknown[], level: number): Plain[] {
    const items: Plain[] = []
    try {
      for (let n = 0; n < value.length; n += 1) items[n] = this.copy(value[n], level + 1) ?? null
    } catch (error) {
      throw inside(items.length, error)
    }
    return items
  }

  /** The node would look at each of them as at a member of an object. */
  #expectBytes(row: Pick<ScriptFunction, 'args'>, level: number): void {
    this.#takesBytes ??= takesBytes(row)
    if (level === 0 || !this.#takesBytes) throw bytesAreNoJson()
  }

  #copyMembers(value: object, level: number): Plain {
    const members: { [name: string]: Plain } = {}
    let name = ''
    try {
      for (name of keys(value)) {
        expectText(name)
        this.#count(name.length)
        const member = this.copy(Reflect.get(value, name), level + 1)
        if (member === undefined) continue
        // A member called __proto__ is one like any other.
        Object.defineProperty(members, name, {
          value: member,
          enumerable: true,
          writable: true,
          configurable: true,
        })
      }
    } catch (error) {
      throw inside(name, error)
    }
    return members
  }
}

function noJson(value: unknown): UnfitValue {
  const what = value === undefined ? 'undefined' : `a ${typeof value}`
  return new UnfitValue(`is ${what}, which is no JSON`)
}

function bytesAreNoJson(): UnfitValue {
  return new UnfitValue('is bytes, which are no JSON')
}

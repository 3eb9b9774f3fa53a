import { int64Max, int64Min, stringifyExact } from '@guildhall/contract'
import { stateDepthMax } from '@guildhall/contract/state'
import type { StateBudget } from './state-budget.ts'

/** Why a state is none, for the script's author. */
export class StateProblem extends Error {
  override readonly name = 'StateProblem'
}

/** Most bytes of a room's state as JSON text. */
export const stateBytesMax = 262_144

type Tree = { [name: string]: unknown }

/**
 * The state of a room as it was when its last slice ended. `update` goes through the state once:
 * it takes over what differs, and refuses what is no JSON; then nothing has been taken over. A part
 * that is frozen throughout is shared instead of copied, and is not entered again.
 */
export class StateCopy {
  value: unknown = null
  /** An upper bound of the bytes as JSON text. */
  #bytes = 0
  #added = 0
  #undo: (() => void)[] = []
  readonly #frozen = new WeakSet<object>()
  readonly #budget: StateBudget | undefined
  /** Nothing was added since the text was measured. */
  #isExact = false

  /** Of a room whose state counts among all others. */
  constructor(budget?: StateBudget) {
    this.#budget = budget
  }

  get bytes(): number {
    return this.#bytes
  }

  /**
   * Whether the state differs from the copy, which is then as the state is.
   *
   * @throws StateProblem for what is no JSON or too large; the copy is as it was
   */
  update(state: unknown): boolean {
    this.#added = 0
    this.#undo = []
    const before = { value: this.value, bytes: this.#bytes }
    try {
      const hasChanged = this.#whole(state)
      this.#bound(state)
      return hasChanged
    } catch (error) {
      for (let n = this.#undo.length - 1; n >= 0; n -= 1) this.#undo[n]?.()
      this.value = before.value
      this.#bytes = before.bytes
      this.#budget?.giveBack(this)
      if (error instanceof StateProblem) throw error
      throw new StateProblem(`room.state cannot be read: ${String(error)}`)
    } finally {
      this.#undo = []
    }
  }

  /** A state like the copy, that the script may change. */
  fresh(): unknown {
    return thaw(this.value, this.#frozen)
  }

  text(): string {
    return stringifyExact(this.value)
  }

  #whole(state: unknown): boolean {
    const { value } = this
    if (isTree(value) && isTree(state) && isSameKind(value, state)) {
      return this.#compare(value, state, 1)
    }
    if (this.value === state && typeof state !== 'object') return false
    this.value = this.#copy(state, 'room.state', 1)
    return true
  }

  #compare(copy: object, next: object, level: number): boolean {
    if (copy === next) return false
    if (Array.isArray(copy) && Array.isArray(next)) return this.#elements(copy, next, level)
    return this.#members(copy as Tree, next as Tree, level)
  }

  #elements(copy: unknown[], next: readonly unknown[], level: number): boolean {
    let hasChanged = false
    if (copy.length !== next.length) {
      const before = copy.slice()
      this.#undo.push(() => {
        copy.length = 0
        for (let n = 0; n < before.length; n += 1) copy[n] = before[n]
      })
      if (copy.length > next.length) copy.length = next.length
      hasChanged = true
    }
    for (let n = 0; n < next.length; n += 1) {
      if (this.#take(copy as unknown as Tree, n as unknown as string, next[n], level)) {
        hasChanged = true
      }
    }
    return hasChanged
  }

  #members(copy: Tree, next: Tree, level: number): boolean {
    checkPlain(next)
    const names = Object.keys(next)
    let hasChanged = false
    for (let n = 0; n < names.length; n += 1) {
      const name = names[n] ?? ''
      if (!Object.hasOwn(copy, name)) this.#added += name.length * 6 + 4
      if (this.#take(copy, name, next[name], level)) hasChanged = true
    }
    if (Object.keys(copy).length === names.length) return hasChanged
    for (const name of Object.keys(copy)) {
      if (Object.hasOwn(next, name)) continue
      const before = copy[name]
      this.#undo.push(() => setMember(copy, name, before))
      delete copy[name]
    }
    return true
  }

  /** Takes one member over, if it differs. */
  #take(copy: Tree, name: string, next: unknown, level: number): boolean {
    const before = Object.hasOwn(copy, name) ? copy[name] : undefined
    if (typeof next !== 'object' || next === null) {
      if (before === next) return false
      this.#countInstead(before, next, name)
    } else if (before === next && this.#frozen.has(next)) {
      return false
    } else if (isTree(before) && isSameKind(before, next) && !this.#frozen.has(before)) {
      if (level >= stateDepthMax) throw tooDeep()
      return this.#compare(before, next, level + 1)
    }
    const after =
      typeof next === 'object' && next !== null ? this.#copy(next, name, level + 1) : next
    this.#undo.push(() => {
      if (before === undefined) delete copy[name]
      else setMember(copy, name, before)
    })
    setMember(copy, name, after)
    return true
  }

  #copy(value: unknown, name: string, level: number): unknown {
    if (typeof value !== 'object' || value === null) {
      this.#count(value, name)
      return value
    }
    if (level > stateDepthMax) throw tooDeep()
    let isFrozen = Object.isFrozen(value)
    const isList = Array.isArray(value)
    if (!isList) checkPlain(value)
    const tree: Tree = isList ? ([] as unknown as Tree) : {}
    const names = isList ? undefined : Object.keys(value)
    const length = names?.length ?? (value as unknown[]).length
    this.#added += 2 + length
    for (let n = 0; n < length; n += 1) {
      const key = names === undefined ? (n as unknown as string) : (names[n] ?? '')
      if (names !== undefined) this.#added += key.length * 6 + 3
      const member = this.#copy((value as Tree)[key], names === undefined ? name : key, level + 1)
      if (member !== (value as Tree)[key]) isFrozen = false
      setMember(tree, key, member)
    }
    if (!isFrozen) return tree
    this.#frozen.add(value)
    return value
  }

  /** Refuses what is no JSON, and adds what it needs at most as text. */
  #count(value: unknown, name: string): void {
    switch (typeof value) {
      case 'string':
        if (!value.isWellFormed()) throw new StateProblem(`room.state: ${name} is no whole text`)
        this.#added += value.length * 6 + 3
        return
      case 'number':
        if (!Number.isFinite(value)) {
          throw new StateProblem(`room.state: ${name} is ${value}, which is no JSON`)
        }
        this.#added += 25
        return
      case 'bigint':
        if (value < int64Min || value > int64Max) {
          throw new StateProblem(`room.state: ${name} is beyond 64 bits`)
        }
        this.#added += 21
        return
      case 'boolean':
        this.#added += 6
        return
      default:
        if (value !== null) {
          throw new StateProblem(`room.state: ${name} is ${typeof value}, which is no JSON`)
        }
        this.#added += 5
    }
  }

  /** A number that is another one now needs no more than before. */
  #countInstead(before: unknown, next: unknown, name: string): void {
    const added = this.#added
    this.#count(next, name)
    if (typeof before === typeof next && typeof next !== 'string') this.#added = added
  }

  /** Makes the bound what it is. */
  measure(): void {
    if (this.#isExact) return
    this.#bytes = Buffer.byteLength(this.text())
    this.#isExact = true
  }

  /** The text is made only when its bound says that it may be too long. */
  #bound(state: unknown): void {
    this.#bytes += this.#added
    if (this.#added > 0) this.#isExact = false
    if (this.#bytes > stateBytesMax) {
      this.#bytes = Buffer.byteLength(stringifyExact(state))
      this.#isExact = true
    }
    if (this.#bytes > stateBytesMax) {
      throw new StateProblem(`room.state: ${this.#bytes} bytes as JSON, at most ${stateBytesMax}`)
    }
    if (this.#budget?.take(this) !== false) return
    const most = `${this.#budget.max} bytes (rooms.state_bytes_total)`
    throw new StateProblem(`room.state: the states of all rooms are more than ${most}`)
  }
}

function isTree(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isSameKind(a: object, b: object): boolean {
  return Array.isArray(a) === Array.isArray(b)
}

function checkPlain(value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return
  const name = (value.constructor as { name?: unknown } | undefined)?.name
  throw new StateProblem(`room.state: an object of the class ${String(name)} is no JSON`)
}

function thaw(value: unknown, frozen: WeakSet<object>): unknown {
  if (typeof value !== 'object' || value === null || frozen.has(value)) return value
  if (Array.isArray(value)) return value.map((item) => thaw(item, frozen))
  const tree: Tree = {}
  for (const name of Object.keys(value)) setMember(tree, name, thaw((value as Tree)[name], frozen))
  return tree
}

/** Also a member that is called `__proto__`. */
function setMember(tree: Tree, name: string, value: unknown): void {
  if (name !== '__proto__') tree[name] = value
  else Object.defineProperty(tree, name, { value, ...ordinary })
}

const ordinary = { writable: true, enumerable: true, configurable: true } as const

function tooDeep(): StateProblem {
  return new StateProblem('room.state has more than 64 levels')
}

import { int64Max, int64Min, stringifyExact } from '@guildhall/contract'
import { stateDepthMax } from '@guildhall/contract/state'
import { absent, CopyPart, type Tree, thaw } from './copy-part.ts'
import { copyBytes, copyBytesMax, nameBytesMax, scalarBytes, scalarBytesMax } from './copy-size.ts'
import { type CopyUndo, giveUndo, takeUndo } from './copy-undo.ts'
import type { StateBudget } from './state-budget.ts'
import type { StateMarks } from './state-marks.ts'

/** Why a state is none, for the script's author. */
export class StateProblem extends Error {
  override readonly name = 'StateProblem'
}

/** Most bytes of a room's state as JSON text. */
export const stateBytesMax = 262_144

type MarkedNames = Exclude<StateMarks, 'all'>

/**
 * The state of a room as it was when its last slice ended. `update` goes through the state once:
 * it takes over what differs, and refuses what is no JSON; then nothing has been taken over. A part
 * that is frozen throughout is shared instead of copied, and is not entered again.
 */
export class StateCopy {
  #value: unknown = null
  /** An upper bound of the bytes as JSON text. */
  #bytes = 0
  countedBytes = 0
  /** The bound is what the text has; else each scalar counts as the longest of its kind. */
  #isMeasured = false
  /** Scalars that change are counted to the byte. */
  #countsText = false
  #added = 0
  /** Of an update that is not accepted yet. */
  #undo: CopyUndo | undefined
  readonly #budget: StateBudget | undefined

  /** Of a room whose state counts among all others. */
  constructor(budget?: StateBudget) {
    this.#budget = budget
  }

  get bytes(): number {
    return this.#bytes
  }

  /**
   * Whether the state differs from the copy, which is then as the state is. Only what is marked is
   * compared.
   *
   * @throws StateProblem for what is no JSON or too large; the copy is as it was
   */
  update(state: unknown, marks: StateMarks = 'all'): boolean {
    const hasChanged = this.tryUpdate(state, marks)
    this.accept()
    return hasChanged
  }

  /** The same, which does not hold before `accept`: whoever reads the copy first takes it back. */
  tryUpdate(state: unknown, marks: StateMarks = 'all'): boolean {
    this.#rollBack()
    this.#added = 0
    const undo = takeUndo()
    undo.value = this.#value
    undo.bytes = this.#bytes
    undo.isMeasured = this.#isMeasured
    undo.countsText = this.#countsText
    this.#undo = undo
    try {
      const hasChanged = this.#whole(state, marks)
      this.#bound()
      return hasChanged
    } catch (error) {
      this.#rollBack()
      if (error instanceof StateProblem) throw error
      throw new StateProblem(`room.state cannot be read: ${String(error)}`)
    }
  }

  accept(): void {
    const undo = this.#undo
    this.#undo = undefined
    if (undo !== undefined) giveUndo(undo)
  }

  /** The parts that it is made of, which note what has changed since somebody compared them. */
  get value(): unknown {
    this.#rollBack()
    return this.#value
  }

  /** A state like the copy, that the script may change. */
  fresh(): unknown {
    this.#rollBack()
    return thaw(this.#value)
  }

  text(): string {
    return stringifyExact(this.fresh())
  }

  /** Makes the bound what it is. */
  measure(): void {
    if (this.#isMeasured) return
    this.#bytes = copyBytes(this.#value)
    this.#isMeasured = true
    this.#countsText = true
  }

  #rollBack(): void {
    const undo = this.#undo
    if (undo === undefined) return
    undo.rollBack()
    const { value, bytes, isMeasured, countsText } = undo
    this.#value = value
    this.#bytes = bytes
    this.#isMeasured = isMeasured
    this.#countsText = countsText
    this.#undo = undefined
    giveUndo(undo)
    this.#budget?.giveBack(this)
  }

  #whole(state: unknown, marks: StateMarks): boolean {
    const value = this.#value
    if (value === state) return false
    if (isObject(state) && isLike(value, state)) return this.#compare(value, state, 1, marks)
    if (isObject(state)) this.#value = this.#copy(state, 'room.state', 1)
    else {
      this.#countInstead(value, state, 'room.state')
      this.#value = state
    }
    return true
  }

  #compare(part: CopyPart, next: object, level: number, marks: StateMarks): boolean {
    if (level > stateDepthMax) throw tooDeep()
    if (part.names === undefined) return this.#elements(part, next as unknown[], level, marks)
    if (part.source !== next) {
      checkPlain(next)
      part.source = next
    }
    if (marks !== 'all') return this.#marked(part, next as Tree, level, marks)
    return this.#members(part, next as Tree, level)
  }

  #elements(part: CopyPart, next: readonly unknown[], level: number, marks: StateMarks): boolean {
    let hasChanged = false
    let first = 0
    if (part.values.length !== next.length) {
      this.#undo?.keepAll(part)
      part.isTouched = true
      part.values = part.values.slice(0, next.length)
      hasChanged = true
    }
    const { values } = part
    if (marks !== 'all') {
      first = values.length
      for (const [name, inner] of marks) {
        const n = Number(name)
        if (n < first && next[n] !== values[n] && this.#take(part, n, next[n], level, inner)) {
          hasChanged = true
        }
      }
    }
    for (let n = first; n < next.length; n += 1) {
      const value = next[n]
      if (value === values[n] && n < values.length) continue
      if (this.#take(part, n, value, level)) hasChanged = true
    }
    return hasChanged
  }

  /**
   * As long as the names are those of before, in their order, none is looked up. They are listed,
   * because the engine compiles what goes through them by `for in` again and again.
   */
  #members(part: CopyPart, next: Tree, level: number): boolean {
    const { names = [], values, numbers } = part
    const listed = Object.keys(next)
    if (listed.length !== names.length) return this.#renamed(part, next, level)
    let hasChanged = false
    let isKept = false
    for (let n = 0; n < names.length; n += 1) {
      const name = names[n] ?? ''
      if (listed[n] !== name) return this.#renamed(part, next, level) || hasChanged
      const value = next[name]
      if (typeof value === 'number' && numbers !== undefined) {
        const before = numbers[n] ?? Number.NaN
        if (value === before) continue
        if (!this.#countsText && !Number.isNaN(before) && Number.isFinite(value)) {
          if (!isKept) this.#undo?.keepNumbers(part, numbers)
          isKept = true
          hasChanged = true
          numbers[n] = value
          part.touch(n)
          continue
        }
      } else if (value === values[n]) continue
      if (this.#take(part, n, value, level)) hasChanged = true
    }
    return hasChanged
  }

  #marked(part: CopyPart, next: Tree, level: number, marks: MarkedNames): boolean {
    let hasChanged = false
    for (const [name, inner] of marks) {
      const place = part.placeOf(name)
      if ((place !== undefined) !== isMember(next, name)) {
        return this.#renamed(part, next, level, marks) || hasChanged
      }
      if (place === undefined) continue
      const value = next[name]
      if (value !== part.at(place) && this.#take(part, place, value, level, inner)) {
        hasChanged = true
      }
    }
    return hasChanged
  }

  /** Members came, went, or changed their order, which alone is no change. */
  #renamed(part: CopyPart, next: Tree, level: number, marks?: MarkedNames): boolean {
    const before = part.names ?? []
    const places = new Map(before.map((name, n) => [name, n]))
    const names = Object.keys(next)
    let kept = 0
    const values = names.map((name) => {
      const place = places.get(name)
      if (place !== undefined) {
        kept += 1
        return part.at(place)
      }
      this.#added += nameBytesMax(name)
      this.#isMeasured = false
      return absent
    })
    this.#undo?.keepAll(part)
    part.isTouched = true
    part.take(names, values)
    let hasChanged = kept !== before.length || kept !== names.length
    for (let n = 0; n < names.length; n += 1) {
      const stood = part.at(n)
      const inner = marks === undefined || stood === absent ? 'all' : marks.get(names[n] ?? '')
      const value = next[names[n] ?? '']
      if (inner === undefined || value === stood) continue
      if (this.#take(part, n, value, level, inner)) hasChanged = true
    }
    return hasChanged
  }

  /** Takes one member over, if it differs. */
  #take(
    part: CopyPart,
    place: number,
    next: unknown,
    level: number,
    marks: StateMarks = 'all',
  ): boolean {
    const before = place < part.values.length ? part.at(place) : absent
    let after = next
    if (isObject(next)) {
      if (isLike(before, next)) {
        const hasChanged = this.#compare(before, next, level + 1, marks)
        if (hasChanged) part.touch(place)
        return hasChanged
      }
      after = this.#copy(next, part.names?.[place] ?? String(place), level + 1)
    } else {
      this.#countInstead(before, next, part.names?.[place] ?? String(place))
    }
    this.#undo?.keep(part, place, before)
    part.touch(place)
    part.put(place, after)
    return true
  }

  /** A part like the value; the value itself where it is frozen throughout. */
  #copy(value: object, name: string, level: number): CopyPart | object {
    if (level > stateDepthMax) throw tooDeep()
    const names = Array.isArray(value) ? undefined : namesOf(value)
    const length = names?.length ?? (value as unknown[]).length
    let isFrozen = Object.isFrozen(value)
    const values: unknown[] = []
    this.#added += 2
    this.#isMeasured = false
    for (let n = 0; n < length; n += 1) {
      const key = names === undefined ? n : (names[n] ?? '')
      const member = (value as Tree)[key]
      if (names !== undefined) this.#added += nameBytesMax(names[n] ?? '')
      if (isObject(member)) {
        const copy = this.#copy(member, names === undefined ? name : String(key), level + 1)
        if (copy !== member) isFrozen = false
        values[n] = copy
      } else {
        checkScalar(member, names === undefined ? name : String(key))
        this.#added += scalarBytesMax(member)
        values[n] = member
      }
    }
    return isFrozen ? value : new CopyPart(names, values, value)
  }

  #countInstead(before: unknown, next: unknown, name: string): void {
    const isNumber = typeof next === 'number' && typeof before === 'number'
    if (isNumber && !this.#countsText && Number.isFinite(next)) return
    checkScalar(next, name)
    if (this.#countsText && !isObject(before) && before !== absent) {
      this.#added += scalarBytes(next) - scalarBytes(before)
    } else if (typeof before !== 'number' || typeof next !== 'number' || this.#countsText) {
      this.#added += scalarBytesMax(next)
      this.#isMeasured = false
    }
  }

  /** What has gone is subtracted, and the text made, only when the bound is too much. */
  #bound(): void {
    this.#bytes += this.#added
    if (this.#bytes > stateBytesMax) this.#count()
    if (this.#bytes > stateBytesMax) {
      throw new StateProblem(`room.state: ${this.#bytes} bytes as JSON, at most ${stateBytesMax}`)
    }
    if (this.#budget?.take(this) !== false) return
    const most = `${this.#budget.max} bytes (rooms.state_bytes_total)`
    throw new StateProblem(`room.state: the states of all rooms are more than ${most}`)
  }

  #count(): void {
    this.#bytes = copyBytesMax(this.#value)
    this.#countsText = false
    this.#isMeasured = false
    if (this.#bytes > stateBytesMax) this.measure()
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Whether a value has the member, among those that JSON would show. */
function isMember(value: object, name: string): boolean {
  return isEnumerable.call(value, name)
}

const isEnumerable = Object.prototype.propertyIsEnumerable

/** Whether the value can be compared with the part member by member. */
function isLike(part: unknown, value: object): part is CopyPart {
  return part instanceof CopyPart && (part.names === undefined) === Array.isArray(value)
}

function namesOf(value: object): string[] {
  checkPlain(value)
  return Object.keys(value)
}

function checkPlain(value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return
  const name = (value.constructor as { name?: unknown } | undefined)?.name
  throw new StateProblem(`room.state: an object of the class ${String(name)} is no JSON`)
}

function checkScalar(value: unknown, name: string): void {
  switch (typeof value) {
    case 'string':
      if (value.isWellFormed()) return
      throw new StateProblem(`room.state: ${name} is no whole text`)
    case 'number':
      if (Number.isFinite(value)) return
      throw new StateProblem(`room.state: ${name} is ${value}, which is no JSON`)
    case 'bigint':
      if (value >= int64Min && value <= int64Max) return
      throw new StateProblem(`room.state: ${name} is beyond 64 bits`)
    case 'boolean':
      return
    default:
      if (value === null) return
      throw new StateProblem(`room.state: ${name} is ${typeof value}, which is no JSON`)
  }
}

function tooDeep(): StateProblem {
  return new StateProblem('room.state has more than 64 levels')
}

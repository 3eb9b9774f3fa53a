import { stringifyExact } from '../values/exact-json.ts'
import { powersOfTen, stateDepthMax, statePlacesMax, stateTypes, stepMax } from './state-format.ts'
import { StateListWriter } from './state-list.ts'
import { numberingOf } from './state-numbering.ts'
import { createDecimals, exponentOf, type StateDecimals } from './state-numbers.ts'
import { StatePart } from './state-part.ts'
import { movesInRow, rowMax } from './state-row.ts'
import { Box, jsonOf, moved, numbersThere, type Scalar, Slot, stepped } from './state-shadow.ts'
import {
  type Container,
  checkPlain,
  indexName,
  isContainer,
  isEqual,
  isList,
  isPlainList,
  isSame,
  membersOf,
  scalarOf,
} from './state-values.ts'

/**
 * What a comparison found: the list of changes, nothing, or that receivers need the whole. `anew`:
 * the numbering begins with this list.
 */
export type StateChange = { list: Uint8Array; anew: boolean } | 'none' | 'whole'

/** So many numbers of what is gone are kept in any case. */
const spareNumbers = 1_024
/** Comparisons. */
const countEvery = 256
/** Of the comparison that runs: a list is taken before another one begins. */
const list = new StateListWriter()

/**
 * One side of a value that follows: it knows what the receivers have, and writes what differs as a
 * part of kind 50. A value that is no JSON throws a TypeError; the next comparison then asks for
 * the whole to be sent.
 */
export class StateEncoder {
  /** Of the members of a name. */
  readonly #decimalsUnder: (name: string) => number | undefined
  /** Of the whole, where it is a number or an array. */
  readonly #rootDecimals: number | undefined
  /** The whole is the only member of this box that has no number. */
  readonly #root = new Slot('', 0)
  #stamp = 0
  #places = 0
  #boxes = 0
  /** With more numbers than this, those of what is there are counted. */
  #numbersMax = spareNumbers
  /** What follows is not written: the receivers get the whole. */
  #isMuted = true
  #isBroken = true
  /** The receivers do not know yet that the numbering began anew. */
  #owesAnew = false
  #depth = 0

  constructor(decimals?: StateDecimals) {
    this.#decimalsUnder = createDecimals(decimals)
    this.#rootDecimals = typeof decimals === 'number' ? decimals : undefined
  }

  /** Whether there is a whole that receivers may be sent. */
  get isWhole(): boolean {
    return !this.#isBroken
  }

  /** Of parts, which nobody else must compare, only what they have noted. */
  compare(next: unknown): StateChange {
    const wasBroken = this.#isBroken
    if (this.#isCrowded()) this.#restart()
    // A comparison that threw has left behind what is neither of the one value nor of the other.
    if (wasBroken) this.#root.clear()
    this.#isBroken = true
    this.#depth = 0
    this.#isMuted = wasBroken || !this.#keepsRoot(next)
    this.#stamp += 1
    list.clear()
    this.#set(this.#root, undefined, next)
    this.#root.isThere = true
    this.#isBroken = false
    if (this.#isMuted) {
      this.#restart()
      this.#owesAnew = false
      return 'whole'
    }
    if (list.isEmpty) return 'none'
    const anew = this.#owesAnew
    this.#owesAnew = false
    return { list: list.take(), anew }
  }

  /** The value as the receivers have it, as JSON. */
  text(): string {
    return stringifyExact(jsonOf(this.#root))
  }

  /** Gives every box and place its number, and every number its m, and changes nothing. */
  numbering(): Uint8Array {
    return numberingOf(this.#root)
  }

  /** Whether the whole stays an object, or an array: else there is no box to name changes in. */
  #keepsRoot(next: unknown): boolean {
    const { box } = this.#root
    if (!this.#root.isBox || box === undefined) return isEqual(this.#root.value, next)
    return isContainer(next) && isList(next) === box.isArray
  }

  /** Whether most numbers are of what is gone; they are counted now and then. */
  #isCrowded(): boolean {
    const numbers = this.#places + this.#boxes
    if (numbers > statePlacesMax / 2) return true
    if (numbers <= spareNumbers) return false
    if (numbers <= this.#numbersMax && this.#stamp % countEvery !== 0) return false
    this.#numbersMax = 4 * numbersThere(this.#root) + spareNumbers
    return numbers > this.#numbersMax
  }

  #restart(): void {
    this.#root.box?.unnumber()
    this.#places = 0
    this.#boxes = 0
    this.#owesAnew = true
  }

  #set(slot: Slot, box: Box | undefined, next: unknown): void {
    if (isContainer(next)) {
      this.#setContainer(slot, box, next)
      return
    }
    const decimals = this.#decimalsOf(slot, box)
    if (typeof next === 'number' && this.#moves(slot, next, decimals)) return
    const scalar = scalarOf(next, decimals, slot.name || 'it')
    if (!slot.isScalar || !isEqual(slot.value, scalar)) {
      if (slot.isBox) slot.box?.empty()
      this.#place(slot, box)
      this.#writeScalar(slot, scalar, decimals)
      slot.scalar = scalar
    }
    slot.given = next
  }

  #decimalsOf(slot: Slot, box: Box | undefined): number | undefined {
    if (box === undefined) return this.#rootDecimals
    if (box.isArray) return box.decimals
    if (slot.decimals === null) slot.decimals = this.#decimalsUnder(slot.name)
    return slot.decimals
  }

  /** The usual case, of a number that has its decimals, and grows or shrinks. */
  #moves(slot: Slot, next: number, decimals: number | undefined): boolean {
    const { e, m } = slot
    if (m === undefined || e !== decimals || this.#isMuted) return false
    const power = powersOfTen[e] ?? 1
    if (slot.scalar !== stepped && slot.scalar !== m / power) return false
    const scaled = Math.round(Math.abs(next) * power)
    const after = next < 0 ? 0 - scaled : scaled
    const step = after - m
    // Also for what is no finite number.
    if (!(Math.abs(step) < stepMax && scaled <= Number.MAX_SAFE_INTEGER)) return false
    if (step === 0) {
      slot.given = next
      return true
    }
    slot.given = moved
    list.grow(slot.place, step)
    slot.m = after
    slot.scalar = stepped
    return true
  }

  #setContainer(slot: Slot, box: Box | undefined, next: Container): void {
    const isArray = isList(next)
    const part = next instanceof StatePart ? next : undefined
    this.#depth += 1
    if (this.#depth > stateDepthMax) throw new TypeError('more than 64 levels')
    if (part === undefined && !isArray && slot.given !== next) checkPlain(next)
    if (slot.isBox && slot.box?.isArray === isArray) {
      const isKnown = part !== undefined && slot.given === part && !part.isTouched
      if (isKnown && !this.#isMuted) this.#touched(slot.box, part)
      else this.#members(slot.box, next)
    } else {
      this.#place(slot, box)
      slot.scalar = undefined
      slot.box ??= new Box(box, slot.name)
      slot.box.empty()
      slot.box.isArray = isArray
      slot.box.decimals = this.#decimalsOf(slot, box)
      const wasMuted = this.#isMuted
      this.#isMuted = true
      this.#members(slot.box, next)
      this.#isMuted = wasMuted
      if (!wasMuted) list.text(slot.place, stateTypes.json, stringifyExact(jsonOf(slot)))
    }
    part?.untouch()
    slot.given = next
    this.#depth -= 1
  }

  /** Compares the members of what was and stays an object, or an array. */
  #members(box: Box, next: Container): void {
    if (next instanceof StatePart) {
      if (next.names === undefined) this.#elements(box, next.values)
      else this.#named(box, next.names, next.all())
    } else if (isPlainList(next)) this.#elements(box, next)
    else {
      const names = Object.keys(next)
      this.#named(box, names, membersOf(next, names))
    }
  }

  /** The same of a part that was compared before: none of its members has come or gone. */
  #touched(box: Box, part: StatePart): void {
    const { touched, touchedLength } = part
    for (let bits = part.touchedBits; bits !== 0; bits &= bits - 1) {
      this.#touchedAt(box, part, 31 - Math.clz32(bits & -bits))
    }
    for (let n = 0; n < touchedLength; n += 1) this.#touchedAt(box, part, touched?.[n] ?? 0)
  }

  #touchedAt(box: Box, part: StatePart, place: number): void {
    const { names, numbers } = part
    if (numbers !== undefined && movesInRow(box, place, numbers[place], list)) return
    const slot = box.slot(names === undefined ? indexName(place) : (names[place] ?? ''), place)
    this.#set(slot, box, part.at(place))
    if (numbers !== undefined && slot.scalar === stepped) box.lend(slot, place)
  }

  #elements(box: Box, next: readonly unknown[]): void {
    if (box.size !== next.length) this.#resize(box, next.length)
    const { slots } = box
    for (let n = 0; n < next.length; n += 1) {
      const value = next[n]
      const likely = slots[n]
      if (likely?.index === n && likely.given === value && likely.isScalar) continue
      const slot = likely?.index === n ? likely : box.slot(indexName(n), n)
      this.#set(slot, box, value)
      slot.isThere = true
    }
  }

  #resize(box: Box, length: number): void {
    const before = box.size
    if (!this.#isMuted) {
      this.#number(box)
      list.length(box, length)
    }
    for (let n = length; n < before; n += 1) this.#forget(box.slot(String(n), n))
    box.size = length
    if (length < before) box.prune()
  }

  /** As long as the names are those of before, in their order, none is looked up. */
  #named(box: Box, names: readonly string[], values: readonly unknown[]): void {
    if (!this.#isMuted && isSame(box.names, names)) {
      this.#valued(box, values)
      return
    }
    box.giveBack()
    const { slots } = box
    if (names.length !== box.size) {
      this.#renamed(box, names, values)
      return
    }
    for (let n = 0; n < names.length; n += 1) {
      const slot = slots[n]
      if (slot === undefined || slot.name !== names[n] || !slot.isThere) {
        this.#renamed(box, names, values)
        return
      }
      const value = values[n]
      if (slot.given !== value || !slot.isScalar) this.#set(slot, box, value)
    }
    box.names = names.length > rowMax ? undefined : names
  }

  /** The same where all names are those of before. */
  #valued(box: Box, values: readonly unknown[]): void {
    const { slots } = box
    for (let n = 0; n < values.length; n += 1) {
      const value = values[n]
      if (typeof value === 'number') {
        if (movesInRow(box, n, value, list)) continue
      } else box.giveBackAt(n)
      const slot = slots[n]
      if (slot === undefined || (slot.given === value && slot.isScalar)) continue
      this.#set(slot, box, value)
      if (slot.scalar === stepped) box.lend(slot, n)
    }
  }

  /** Members came, went, or changed their order. */
  #renamed(box: Box, names: readonly string[], values: readonly unknown[]): void {
    let kept = 0
    let added = 0
    for (let n = 0; n < names.length; n += 1) {
      const slot = box.slot(names[n] ?? '', n)
      slot.seen = this.#stamp
      if (slot.isThere) kept += 1
      else added += 1
      this.#set(slot, box, values[n])
      slot.isThere = true
    }
    if (kept < box.size) this.#removeUnseen(box)
    box.size = kept + added
    if (box.slots.length > 2 * box.size + 16) box.prune()
  }

  #removeUnseen(box: Box): void {
    for (const slot of box.slots) {
      if (!slot.isThere || slot.seen === this.#stamp) continue
      this.#forget(slot)
      if (this.#isMuted) continue
      this.#place(slot, box)
      list.head(stateTypes.gone, slot.place)
    }
  }

  #forget(slot: Slot): void {
    if (slot.isBox) slot.box?.empty()
    slot.clear()
  }

  #writeScalar(slot: Slot, scalar: Scalar, decimals = 0): void {
    if (this.#isMuted) return
    if (typeof scalar === 'number') this.#writeNumber(slot, scalar, decimals)
    else if (typeof scalar === 'string') list.text(slot.place, stateTypes.text, scalar)
    else if (typeof scalar === 'bigint') list.text(slot.place, stateTypes.json, String(scalar))
    else list.head(scalar === null ? 0 : scalar ? stateTypes.true : stateTypes.false, slot.place)
  }

  #writeNumber(slot: Slot, value: number, decimals: number): void {
    const { place, value: before, m } = slot
    const power = powersOfTen[slot.e] ?? 1
    if (m !== undefined && typeof before === 'number' && m / power === before) {
      const next = Math.round(value * power)
      const step = next - m
      if (
        next / power === value &&
        Math.abs(step) < stepMax &&
        Math.abs(next) <= Number.MAX_SAFE_INTEGER
      ) {
        list.grow(place, step)
        slot.m = next
        return
      }
    }
    const e = exponentOf(value, Number.isInteger(value) ? 0 : decimals)
    if (e < 0) {
      slot.m = undefined
      list.head(stateTypes.double, place)
      list.body.f64(value)
      return
    }
    slot.e = e
    slot.m = Math.round(value * (powersOfTen[e] ?? 1)) || 0
    list.head(stateTypes.decimal, place)
    list.body.u8(e)
    list.body.int(slot.m)
  }

  /** Gives the slot a number that the receivers know. */
  #place(slot: Slot, box: Box | undefined): void {
    if (this.#isMuted || slot.place >= 0 || box === undefined) return
    this.#number(box)
    slot.place = this.#places
    this.#places += 1
    list.place(slot, box)
    this.#checkPlaces()
  }

  #number(box: Box): void {
    if (box.number >= 0 || box.parent === undefined) return
    this.#number(box.parent)
    this.#boxes += 1
    box.number = this.#boxes
    list.box(box)
    this.#checkPlaces()
  }

  /** So many changes are shorter as the whole. */
  #checkPlaces(): void {
    if (this.#places + this.#boxes >= statePlacesMax) this.#isMuted = true
  }
}

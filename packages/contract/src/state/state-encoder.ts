import { stringifyExact } from '../values/exact-json.ts'
import { StateWriter } from './state-bytes.ts'
import { powersOfTen, stateDepthMax, statePlacesMax, stateTypes } from './state-format.ts'
import { numberingOf, writeBox, writePlace, zigzag } from './state-numbering.ts'
import { createDecimals, exponentOf, roundTo, type StateDecimals } from './state-numbers.ts'
import { Box, jsonOf, type Scalar, Slot } from './state-shadow.ts'

/**
 * What a comparison found: the list of changes, nothing, or that receivers need the whole. `anew`:
 * the numbering begins with this list.
 */
export type StateChange = { list: Uint8Array; anew: boolean } | 'none' | 'whole'

type Named = { readonly [name: string]: unknown }
type Container = Named | readonly unknown[]

/** A larger step is sent as the number itself: its zigzag would not be exact. */
const stepMax = 2 ** 51

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
  readonly #writer = new StateWriter()
  /** The whole is the only member of this box that has no number. */
  readonly #root = new Slot('', 0)
  #stamp = 0
  #places = 0
  #boxes = 0
  /** What follows is not written: the receivers get the whole. */
  #isMuted = true
  #isBroken = true
  /** The receivers do not know yet that the numbering began anew. */
  #owesAnew = false
  #depth = 0
  #lastPlace = -1
  #runFirst = -1
  readonly #run: number[] = []

  constructor(decimals?: StateDecimals) {
    this.#decimalsUnder = createDecimals(decimals)
    this.#rootDecimals = typeof decimals === 'number' ? decimals : undefined
  }

  /** Whether there is a whole that receivers may be sent. */
  get isWhole(): boolean {
    return !this.#isBroken
  }

  compare(next: unknown): StateChange {
    const wasBroken = this.#isBroken
    if (this.#places + this.#boxes > statePlacesMax / 2) this.#restart()
    this.#isBroken = true
    this.#depth = 0
    this.#isMuted = wasBroken || !this.#keepsRoot(next)
    this.#stamp += 1
    this.#lastPlace = -1
    this.#writer.clear()
    this.#clearRun()
    this.#set(this.#root, undefined, next)
    this.#root.isThere = true
    this.#flushRun()
    this.#isBroken = false
    if (this.#isMuted) {
      this.#restart()
      this.#owesAnew = false
      return 'whole'
    }
    if (this.#writer.length === 0) return 'none'
    const anew = this.#owesAnew
    this.#owesAnew = false
    return { list: this.#writer.take(), anew }
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
    if (!this.#root.isBox || box === undefined) return isEqual(this.#root.scalar, next)
    return typeof next === 'object' && next !== null && Array.isArray(next) === box.isArray
  }

  #restart(): void {
    this.#root.box?.unnumber()
    this.#places = 0
    this.#boxes = 0
    this.#owesAnew = true
  }

  #set(slot: Slot, box: Box | undefined, next: unknown): void {
    if (typeof next === 'object' && next !== null) {
      this.#setContainer(slot, box, next as Container)
      return
    }
    const decimals = this.#decimalsOf(slot, box)
    if (typeof next === 'number' && this.#moves(slot, next, decimals)) return
    const scalar = this.#scalarOf(next, decimals)
    if (!slot.isScalar || !isEqual(slot.scalar, scalar)) {
      if (slot.isBox) slot.box?.empty()
      this.#place(slot, box)
      this.#writeScalar(slot, scalar, decimals)
      slot.scalar = scalar
    }
    slot.given = next
  }

  #decimalsOf(slot: Slot, box: Box | undefined): number | undefined {
    if (box === undefined) return this.#rootDecimals
    return box.isArray ? box.decimals : this.#decimalsUnder(slot.name)
  }

  /** The usual case, of a number that has its decimals, and grows or shrinks. */
  #moves(slot: Slot, next: number, decimals: number | undefined): boolean {
    const { e, m } = slot
    if (m === undefined || e !== decimals || this.#isMuted) return false
    const power = powersOfTen[e] ?? 1
    if (slot.scalar !== m / power) return false
    const scaled = Math.round(Math.abs(next) * power)
    const after = next < 0 ? 0 - scaled : scaled
    const step = after - m
    // Also for what is no finite number.
    if (!(Math.abs(step) < stepMax && scaled <= Number.MAX_SAFE_INTEGER)) return false
    slot.given = next
    if (step === 0) return true
    this.#grow(slot.place, step)
    slot.m = after
    slot.scalar = after / power
    return true
  }

  #setContainer(slot: Slot, box: Box | undefined, next: Container): void {
    const isArray = Array.isArray(next)
    this.#depth += 1
    if (this.#depth > stateDepthMax) throw new TypeError('more than 64 levels')
    if (!isArray && slot.given !== next) checkPlain(next)
    if (slot.isBox && slot.box?.isArray === isArray) {
      this.#members(slot.box, next)
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
      if (!wasMuted) this.#writeText(slot, stateTypes.json, stringifyExact(jsonOf(slot)))
    }
    slot.given = next
    this.#depth -= 1
  }

  /** Compares the members of what was and stays an object, or an array. */
  #members(box: Box, next: Container): void {
    if (Array.isArray(next)) this.#elements(box, next)
    else this.#named(box, next as Named)
  }

  #elements(box: Box, next: readonly unknown[]): void {
    const before = box.size
    if (before !== next.length) this.#resize(box, next.length)
    const { slots } = box
    for (let n = 0; n < next.length; n += 1) {
      const value = next[n]
      const likely = slots[n]
      if (likely?.index === n && likely.given === value && likely.isScalar) continue
      const slot = likely?.index === n ? likely : box.slot(indexNames[n] ?? String(n), n)
      this.#set(slot, box, value)
      slot.isThere = true
    }
  }

  #resize(box: Box, length: number): void {
    const before = box.size
    if (!this.#isMuted) {
      this.#flushRun()
      this.#number(box)
      this.#writer.u8(stateTypes.length)
      this.#writer.varint(box.number)
      this.#writer.varint(length)
    }
    for (let n = length; n < before; n += 1) this.#forget(box.slot(String(n), n))
    box.size = length
    if (length < before) box.prune()
  }

  /** As long as the names are those of before, in their order, none is looked up. */
  #named(box: Box, next: Named): void {
    const { slots } = box
    let n = 0
    for (const name in next) {
      const slot = slots[n]
      if (slot === undefined || slot.name !== name || !slot.isThere) {
        this.#renamed(box, next)
        return
      }
      const value = next[name]
      if (slot.given !== value || !slot.isScalar) this.#set(slot, box, value)
      n += 1
    }
    if (n !== box.size) this.#renamed(box, next)
  }

  /** Members came, went, or changed their order. */
  #renamed(box: Box, next: Named): void {
    const stamp = this.#stamp
    const names = Object.keys(next)
    let kept = 0
    let added = 0
    for (let n = 0; n < names.length; n += 1) {
      const name = names[n] ?? ''
      const slot = box.slot(name, n)
      if (slot.isThere) kept += 1
      else added += 1
      slot.seen = stamp
      this.#set(slot, box, next[name])
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
      this.#head(stateTypes.gone, slot.place)
    }
  }

  #forget(slot: Slot): void {
    if (slot.isBox) slot.box?.empty()
    slot.clear()
  }

  #scalarOf(next: unknown, decimals: number | undefined): Scalar {
    switch (typeof next) {
      case 'number':
        if (!Number.isFinite(next)) throw new TypeError('a number that is not finite')
        return decimals === undefined || Number.isInteger(next) ? next : roundTo(next, decimals)
      case 'string':
        return next
      case 'boolean':
      case 'bigint':
        return next
      default:
        if (next === null) return next
        throw new TypeError(`${typeof next} is no JSON`)
    }
  }

  #writeScalar(slot: Slot, scalar: Scalar, decimals = 0): void {
    if (this.#isMuted) return
    if (typeof scalar === 'number') this.#writeNumber(slot, scalar, decimals)
    else if (typeof scalar === 'string') this.#writeText(slot, stateTypes.text, scalar)
    else if (typeof scalar === 'bigint') this.#writeText(slot, stateTypes.json, String(scalar))
    else this.#head(scalar === null ? 0 : scalar ? stateTypes.true : stateTypes.false, slot.place)
  }

  #writeNumber(slot: Slot, value: number, decimals: number): void {
    const { place, scalar, m } = slot
    const power = powersOfTen[slot.e] ?? 1
    if (m !== undefined && typeof scalar === 'number' && m / power === scalar) {
      const next = Math.round(value * power)
      const step = next - m
      if (next / power === value && Math.abs(step) < stepMax && isSafe(next)) {
        this.#grow(place, step)
        slot.m = next
        return
      }
    }
    const e = exponentOf(value, Number.isInteger(value) ? 0 : decimals)
    if (e < 0) {
      slot.m = undefined
      this.#head(stateTypes.double, place)
      this.#writer.f64(value)
      return
    }
    slot.e = e
    slot.m = Math.round(value * (powersOfTen[e] ?? 1)) || 0
    this.#head(stateTypes.decimal, place)
    this.#writer.u8(e)
    this.#writer.int(slot.m)
  }

  /** Steps of places in a row share an entry. */
  #grow(place: number, step: number): void {
    if (place !== this.#runFirst + this.#run.length || this.#run.length >= 255) {
      this.#flushRun()
      this.#runFirst = place
    }
    this.#run.push(step)
  }

  #flushRun(): void {
    const run = this.#run
    if (run.length === 0) return
    this.#writer.varint(stateTypes.grow + 16 * zigzag(this.#runFirst - this.#lastPlace))
    this.#writer.u8(run.length)
    for (let n = 0; n < run.length; n += 1) this.#writer.int(run[n] ?? 0)
    this.#lastPlace = this.#runFirst + run.length - 1
    this.#clearRun()
  }

  #clearRun(): void {
    this.#runFirst = -1
    this.#run.length = 0
  }

  #head(type: number, place: number): void {
    this.#flushRun()
    this.#writer.varint(type + 16 * zigzag(place - this.#lastPlace))
    this.#lastPlace = place
  }

  #writeText(slot: Slot, type: number, text: string): void {
    this.#head(type, slot.place)
    this.#writer.text(text)
  }

  /** Gives the slot a number that the receivers know. */
  #place(slot: Slot, box: Box | undefined): void {
    if (this.#isMuted || slot.place >= 0 || box === undefined) return
    this.#flushRun()
    this.#number(box)
    slot.place = this.#places
    this.#places += 1
    writePlace(this.#writer, slot, box)
    this.#checkPlaces()
  }

  #number(box: Box): void {
    if (box.number >= 0 || box.parent === undefined) return
    this.#number(box.parent)
    this.#boxes += 1
    box.number = this.#boxes
    writeBox(this.#writer, box)
    this.#checkPlaces()
  }

  /** So many changes are shorter as the whole. */
  #checkPlaces(): void {
    if (this.#places + this.#boxes >= statePlacesMax) this.#isMuted = true
  }
}

function isSafe(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER
}

/** JSON has one zero. */
function isEqual(a: unknown, b: unknown): boolean {
  return a === b
}

function checkPlain(value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return
  throw new TypeError('an object of a class is no JSON')
}

const indexNames: readonly string[] = Array.from({ length: 1024 }, (_, n) => String(n))

import type { Json } from '../values/json.ts'
import { powersOfTen } from './state-format.ts'
import { codeOf, newRow } from './state-row.ts'

/** A value that is neither object nor array. */
export type Scalar = null | boolean | number | bigint | string

/** Stands for the number m / 10^e, which needs no memory of its own. */
export const stepped = Symbol('stepped')
/** Given of a number that moves: it is compared again anyway, and this needs no memory. */
export const moved = Symbol('moved')

/** A name in a box. It keeps its number when the name goes, until a numbering begins anew. */
export class Slot {
  readonly name: string
  /** Its name as a number, if it is that of its place among the slots. */
  readonly index: number
  /** -1 until the receivers know it. */
  place = -1
  e = 0
  /** What the receivers compute the number of this place from; undefined where they cannot. */
  m: number | undefined
  isThere = false
  /** While it is there: what the receivers have, or undefined for an object or array. */
  scalar: Scalar | undefined | typeof stepped
  /** What it was compared with last: before it was rounded. */
  given: unknown
  /** Of its name, if it has been looked up; an element has those of its array. */
  decimals: number | undefined | null = null
  /** Of the object or array that it is, or was. */
  box: Box | undefined
  /** The comparison that saw it last. */
  seen = 0

  constructor(name: string, place: number) {
    this.name = name
    this.index = name === String(place) ? place : -1
  }

  get value(): Scalar | undefined {
    return this.scalar === stepped ? (this.m ?? 0) / (powersOfTen[this.e] ?? 1) : this.scalar
  }

  get isBox(): boolean {
    return this.isThere && this.scalar === undefined
  }

  get isScalar(): boolean {
    return this.isThere && this.scalar !== undefined
  }

  /** It is not there any more. */
  clear(): void {
    this.isThere = false
    this.scalar = undefined
    this.given = undefined
  }
}

/** An object or array as the receivers have it. */
export class Box {
  readonly parent: Box | undefined
  readonly name: string
  /** -1 until the receivers know it; the whole is 0. */
  number: number
  isArray = false
  /** Of the elements of an array. */
  decimals: number | undefined
  /** How many slots are there. */
  size = 0
  /** In the order in which they came. */
  slots: Slot[] = []
  /** Of all slots in their order, if they are few and all there. */
  names: readonly string[] | undefined
  /** What a slot that is in here says itself of its number is out of date. */
  row: number[] | undefined
  readonly #byName = new Map<string, Slot>()

  constructor(parent: Box | undefined, name: string) {
    this.parent = parent
    this.name = name
    this.number = parent === undefined ? 0 : -1
  }

  /** `expected` is where the slot stands as long as names keep their order. */
  slot(name: string, expected: number): Slot {
    const likely = this.slots[expected]
    if (likely !== undefined && likely.name === name) return likely
    const found = this.#byName.get(name)
    if (found !== undefined) return found
    const made = new Slot(name, this.slots.length)
    this.#byName.set(name, made)
    this.slots.push(made)
    return made
  }

  /** A number that moves is kept in the row from now on, where that has a place for it. */
  lend(slot: Slot, at: number): void {
    const { m, place, e } = slot
    if (this.slots[at] !== slot || m === undefined) return
    this.row ??= newRow(this.slots.length)
    if (2 * at >= this.row.length) return
    this.row[2 * at] = m
    this.row[2 * at + 1] = codeOf(place, e)
  }

  giveBackAt(at: number): void {
    const m = this.row?.[2 * at] ?? Number.NaN
    const slot = this.slots[at]
    if (Number.isNaN(m) || slot === undefined) return
    slot.m = m
    slot.scalar = stepped
    slot.given = moved
    if (this.row !== undefined) this.row[2 * at] = Number.NaN
  }

  /** The names may be others from here on. */
  giveBack(): void {
    this.names = undefined
    const length = this.row?.length ?? 0
    for (let at = 0; 2 * at < length; at += 1) this.giveBackAt(at)
    this.row = undefined
  }

  /** Forgets slots that are not there and have no number. */
  prune(): void {
    this.giveBack()
    if (this.slots.length === this.size) return
    this.slots = this.slots.filter((slot) => {
      const isKept = slot.isThere || slot.place >= 0 || (slot.box?.number ?? -1) >= 0
      if (!isKept) this.#byName.delete(slot.name)
      return isKept
    })
  }

  /** Nothing of it is there any more. */
  empty(): void {
    this.giveBack()
    for (const slot of this.slots) {
      if (slot.isBox) slot.box?.empty()
      slot.clear()
    }
    this.size = 0
    this.prune()
  }

  /** All numbers are forgotten. */
  unnumber(): void {
    this.giveBack()
    if (this.parent !== undefined) this.number = -1
    for (const slot of this.slots) {
      slot.place = -1
      slot.scalar = slot.value
      slot.m = undefined
      if (slot.isBox) slot.box?.unnumber()
      else slot.box = undefined
    }
    this.prune()
  }
}

/** What the receivers have of a slot. */
export function jsonOf(slot: Slot): Json {
  const { box, value } = slot
  if (value !== undefined) return value
  if (box === undefined) return null
  box.giveBack()
  const there = box.slots.filter(({ isThere }) => isThere)
  if (box.isArray) {
    there.sort((a, b) => Number(a.name) - Number(b.name))
    return there.map(jsonOf)
  }
  return Object.fromEntries(there.map((member) => [member.name, jsonOf(member)]))
}

/** How many boxes and places that have a number are there. */
export function numbersThere(slot: Slot): number {
  let numbers = slot.place >= 0 ? 1 : 0
  const { box } = slot
  if (!slot.isBox || box === undefined) return numbers
  if (box.number > 0) numbers += 1
  for (const member of box.slots) if (member.isThere) numbers += numbersThere(member)
  return numbers
}

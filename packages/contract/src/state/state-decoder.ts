import { parseExact } from '../values/exact-json.ts'
import type { Json } from '../values/json.ts'
import { malformedState, StateReader } from './state-bytes.ts'
import { powersOfTen, stateFlags, stateTypes } from './state-format.ts'

/** One change: where it is, by names and indexes, and what is there now; undefined = gone. */
export type StatePathChange = {
  readonly path: readonly (string | number)[]
  readonly value: unknown
}

/** What a message has done to the values. */
export type StateUpdate = {
  readonly seq: number
  /** The room of a full message; undefined for changes. */
  readonly room_id: number | undefined
}

type Tree = { [name: string]: unknown } | unknown[]
type Box = { readonly parent: number; readonly name: string }
type Place = { readonly box: number; readonly name: string; e: number; m: number }

/**
 * Reads the messages of kind 50 of one room. `view` and `own` are frozen; a message makes new
 * objects along the paths that it changes, and leaves all others as they were.
 */
export class StateDecoder {
  readonly #view = new Part()
  readonly #own = new Part()
  #seq = 0
  #isWhole = false

  get view(): unknown {
    return this.#view.value
  }

  /** Undefined where the room has no own parts. */
  get own(): unknown {
    return this.#own.value
  }

  get seq(): number {
    return this.#seq
  }

  /**
   * Takes a message, and adds to `changes` what it changes in the view. After one that cannot be
   * read, and before the first full one, changes are ignored.
   *
   * @throws WireError for a message that cannot be read
   */
  take(body: Uint8Array, changes?: StatePathChange[]): StateUpdate | undefined {
    const reader = new StateReader(body)
    const flags = reader.u8()
    if ((flags & 15) !== stateFlags.version) throw malformedState('another version')
    const seq = reader.u32()
    const isFull = (flags & stateFlags.full) !== 0
    if (!isFull && !this.#isWhole) return undefined
    this.#isWhole = false
    const room_id = isFull ? this.#begin(reader) : undefined
    const anew = (flags & stateFlags.anew) !== 0
    const hasOwn = (flags & stateFlags.own) !== 0
    const shared = hasOwn ? new StateReader(reader.bytes(reader.varint())) : reader
    if (shared.left > 0) this.#view.take(shared, { anew, changes: isFull ? undefined : changes })
    if (hasOwn) this.#own.take(reader, { anew })
    if (isFull) changes?.push({ path: [], value: this.#view.value })
    this.#seq = seq
    this.#isWhole = true
    return { seq, room_id }
  }

  #begin(reader: StateReader): number {
    const room_id = reader.u64()
    const { view, own } = parse(reader.text()) as { view?: unknown; own?: unknown }
    this.#view.begin(view)
    this.#own.begin(own)
    return room_id
  }
}

type TakeOptions = { anew: boolean; changes?: StatePathChange[] | undefined }

/** One value that follows, with the numbers of its boxes and places. */
class Part {
  value: unknown
  #boxes: Box[] = [wholeBox]
  #places: Place[] = []
  /** What this message has made: these objects may be written to until it ends. */
  #made = new Set<Tree>()

  begin(value: unknown): void {
    this.value = freezeAll(value)
    this.#boxes = [wholeBox]
    this.#places = []
  }

  take(reader: StateReader, { anew, changes }: TakeOptions): void {
    if (anew) {
      this.#boxes = [wholeBox]
      this.#places = []
    }
    const before = this.value
    try {
      let last = -1
      while (reader.left > 0) last = this.#entry(reader, last, changes)
    } catch (error) {
      this.value = before
      throw error
    } finally {
      for (const made of this.#made) Object.freeze(made)
      this.#made.clear()
    }
  }

  #entry(reader: StateReader, last: number, changes?: StatePathChange[]): number {
    const head = reader.varint()
    const type = head % 16
    if (type > stateTypes.gone) {
      this.#declare(reader, type, changes)
      return last
    }
    const step = Math.floor(head / 16)
    const first = last + (step % 2 === 1 ? -(step + 1) / 2 : step / 2)
    if (type !== stateTypes.grow) {
      this.#write(first, this.#read(reader, type, first), changes)
      return first
    }
    const count = reader.u8()
    for (let n = 0; n < count; n += 1) {
      const place = this.#placeAt(first + n)
      place.m += reader.int()
      this.#write(first + n, numberOf(place), changes)
    }
    return first + count - 1
  }

  #declare(reader: StateReader, type: number, changes?: StatePathChange[]): void {
    const box = reader.varint()
    if (type === stateTypes.length) {
      const array = this.#open(box)
      const length = reader.varint()
      // A whole of 1 MiB has fewer elements than this.
      if (!Array.isArray(array) || length > 1_048_576) throw malformedState()
      array.length = length
      changes?.push({ path: [...this.#pathOf(box), 'length'], value: length })
      return
    }
    if (box >= this.#boxes.length) throw malformedState()
    const name = reader.text()
    if (type === stateTypes.place) this.#places.push({ box, name, e: 0, m: 0 })
    else if (type === stateTypes.box) this.#boxes.push({ parent: box, name })
    else throw malformedState()
  }

  #read(reader: StateReader, type: number, at: number): unknown {
    switch (type) {
      case stateTypes.null:
        return null
      case stateTypes.false:
        return false
      case stateTypes.true:
        return true
      case stateTypes.decimal: {
        const place = this.#placeAt(at)
        place.e = reader.u8()
        place.m = reader.int()
        return numberOf(place)
      }
      case stateTypes.double:
        return reader.f64()
      case stateTypes.text:
        return reader.text()
      case stateTypes.json:
        return freezeAll(parse(reader.text()))
      default:
        return undefined
    }
  }

  #write(at: number, value: unknown, changes?: StatePathChange[]): void {
    const { box, name } = this.#placeAt(at)
    const tree = this.#open(box)
    if (Array.isArray(tree)) {
      const index = Number(name)
      if (!(index < tree.length)) throw malformedState()
      tree[index] = value
    } else if (value === undefined) {
      delete tree[name]
    } else {
      setMember(tree, name, value)
    }
    changes?.push({
      path: [...this.#pathOf(box), Array.isArray(tree) ? Number(name) : name],
      value,
    })
  }

  /** The object or array of a box, as one that this message may write to. */
  #open(number: number): Tree {
    if (number === 0) {
      const tree = this.#writable(this.value)
      this.value = tree
      return tree
    }
    const box = this.#boxes[number]
    if (box === undefined) throw malformedState()
    const parent = this.#open(box.parent)
    const found = memberOf(parent, box.name)
    const tree = this.#writable(found)
    if (tree !== found) setMember(parent, box.name, tree)
    return tree
  }

  #writable(found: unknown): Tree {
    if (typeof found !== 'object' || found === null) throw malformedState()
    if (this.#made.has(found as Tree)) return found as Tree
    const tree: Tree = Array.isArray(found) ? found.slice() : { ...found }
    this.#made.add(tree)
    return tree
  }

  #placeAt(number: number): Place {
    const place = this.#places[number]
    if (place === undefined) throw malformedState()
    return place
  }

  #pathOf(number: number): (string | number)[] {
    const path: (string | number)[] = []
    let next = number
    let tree = this.#boxes[next]
    while (next !== 0 && tree !== undefined) {
      path.unshift(tree.name)
      next = tree.parent
      tree = this.#boxes[next]
    }
    return path
  }
}

const wholeBox: Box = { parent: 0, name: '' }

function numberOf({ e, m }: Place): number {
  const power = powersOfTen[e]
  if (power === undefined) throw malformedState()
  return m / power
}

function parse(text: string): Json | { view?: unknown; own?: unknown } {
  try {
    return parseExact(text) as Json
  } catch {
    throw malformedState('invalid JSON')
  }
}

function memberOf(tree: Tree, name: string): unknown {
  if (Array.isArray(tree)) return tree[Number(name)]
  return Object.hasOwn(tree, name) ? tree[name] : undefined
}

/** Also of a member that is called `__proto__`. */
function setMember(tree: Tree, name: string, value: unknown): void {
  if (name !== '__proto__') (tree as { [name: string]: unknown })[name] = value
  else Object.defineProperty(tree, name, { value, ...ordinary })
}

const ordinary = { writable: true, enumerable: true, configurable: true } as const

function freezeAll<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freezeAll(member)
  return Object.freeze(value)
}

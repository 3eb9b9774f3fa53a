import type { CopyPart } from './copy-part.ts'

/** More storage is given back after the update that needed it. */
const keptEntries = 4_096

type All = Pick<CopyPart, 'names' | 'values' | 'numbers'>

/** What stood in a copy before an update that is not accepted yet; an interrupt leaves it so. */
export class CopyUndo {
  /** What the copy was as a whole. */
  value: unknown = null
  bytes = 0
  isMeasured = false
  countsText = false
  /** One by one: a part, the place of a member or a mark, and what stood there. */
  readonly #parts: (CopyPart | undefined)[] = []
  readonly #places: number[] = []
  readonly #members: unknown[] = []
  /** So many are of this update; what is behind is written over. */
  #length = 0
  readonly #numbers: number[] = [0.5]
  #numbersLength = 0

  keep(part: CopyPart, place: number, before: unknown): void {
    this.#members[this.#length] = before
    this.#add(part, place)
  }

  /** All numbers of a part: one list is sooner copied than each of them noted. */
  keepNumbers(part: CopyPart, numbers: readonly number[]): void {
    const from = this.#numbersLength
    for (let n = 0; n < numbers.length; n += 1) this.#numbers[from + n] = numbers[n] ?? 0
    this.#members[this.#length] = from
    this.#add(part, allNumbers)
    this.#numbersLength = from + numbers.length
  }

  /** All members of a part. */
  keepAll(part: CopyPart): void {
    const { names, values, numbers } = part
    this.#members[this.#length] = { names, values, numbers }
    this.#add(part, allMembers)
  }

  #add(part: CopyPart, place: number): void {
    const at = this.#length
    this.#parts[at] = part
    this.#places[at] = place
    // An interrupt before this leaves what was there before it.
    this.#length = at + 1
  }

  /** After an interrupt it goes on: a part may have other places by then. */
  rollBack(): void {
    while (this.#length > 0) {
      const n = this.#length - 1
      this.#putBack(n)
      this.#length = n
      this.#parts[n] = undefined
      this.#members[n] = undefined
    }
  }

  #putBack(n: number): void {
    const part = this.#parts[n]
    const place = this.#places[n] ?? 0
    const before = this.#members[n]
    if (part === undefined) return
    if (place === allMembers) restore(part, before as All)
    else if (place === allNumbers) this.#restoreNumbers(part, before as number)
    else part.put(place, before)
  }

  #restoreNumbers({ numbers }: CopyPart, from: number): void {
    if (numbers === undefined) return
    for (let n = 0; n < numbers.length; n += 1) numbers[n] = this.#numbers[from + n] ?? 0
  }

  forget(): void {
    const length = this.#length
    this.#length = 0
    this.#numbersLength = 0
    this.value = null
    for (let n = 0; n < length; n += 1) {
      this.#parts[n] = undefined
      this.#members[n] = undefined
    }
  }

  /** Larger than is kept for the next update. */
  get isLarge(): boolean {
    return this.#parts.length + this.#numbers.length > keptEntries
  }
}

const allMembers = -1
const allNumbers = -2

function restore(part: CopyPart, { names, values, numbers }: All): void {
  part.names = names
  part.values = values
  part.numbers = numbers
}

/** The copies take turns with one: hardly ever is an update of two of them not accepted yet. */
let spare: CopyUndo | undefined

export function takeUndo(): CopyUndo {
  const undo = spare ?? new CopyUndo()
  spare = undefined
  return undo
}

export function giveUndo(undo: CopyUndo): void {
  undo.forget()
  if (!undo.isLarge) spare = undo
}

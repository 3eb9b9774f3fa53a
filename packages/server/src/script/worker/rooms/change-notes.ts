import type { StateMarks } from '@guildhall/contract/state'
import type { CopyPart } from './copy-part.ts'

/** More changes cost more as notes than what is compared without them. */
const changesMax = 32

type Notes = Map<string, StateMarks>

/** Where a comparison with a copy has found changes, as long as they are few. */
export class ChangeNotes {
  /** The way to where the comparison is: parts, and the place at which it goes on in each. */
  readonly #parts: CopyPart[] = []
  readonly #places: number[] = []
  #notes: Notes = new Map()
  #changes = 0
  #isWriting = true
  #isWhole = false

  /** Where there were many changes the last time, they are only counted. */
  begin(): void {
    this.#isWriting = this.#changes <= changesMax
    this.#isWhole = false
    this.#changes = 0
    if (this.#notes.size > 0) this.#notes = new Map()
  }

  /** The comparison goes on in what stands there. */
  enter(level: number, part: CopyPart, place: number): void {
    this.#parts[level] = part
    this.#places[level] = place
  }

  /** The member of this name of a part of this level differs. */
  add(level: number, name: string): void {
    this.#changes += 1
    if (!this.#isWriting || this.#changes > changesMax) return
    let notes = this.#notes
    for (let at = 1; at < level; at += 1) {
      const place = this.#places[at] ?? 0
      notes = innerOf(notes, this.#parts[at]?.names?.[place] ?? String(place))
    }
    notes.set(name, 'all')
  }

  /** The whole is another value. */
  addWhole(): void {
    this.#isWhole = true
  }

  get marks(): StateMarks {
    const isKnown = this.#isWriting && !this.#isWhole && this.#changes <= changesMax
    return isKnown ? this.#notes : 'all'
  }
}

function innerOf(notes: Notes, name: string): Notes {
  const found = notes.get(name)
  if (found instanceof Map) return found
  const made: Notes = new Map()
  notes.set(name, made)
  return made
}

import { StateWriter } from './state-bytes.ts'
import { changesHeadBytes, stateTypes } from './state-format.ts'
import { writeBox, writePlace, zigzag } from './state-numbering.ts'
import type { Box, Slot } from './state-shadow.ts'

/** Most steps of an entry. */
const runMax = 255

/** Writes a list of changes (R-STA-3): entries name their place by the one before. */
export class StateListWriter {
  readonly #writer = new StateWriter()
  #lastPlace = -1
  #runFirst = -1
  /** Steps of places in a row, which share an entry. */
  readonly #run: number[] = []
  #runLength = 0

  constructor() {
    this.clear()
  }

  get isEmpty(): boolean {
    return this.#writer.length === changesHeadBytes && this.#runLength === 0
  }

  /** What follows the head of an entry. */
  get body(): StateWriter {
    return this.#writer
  }

  clear(): void {
    this.#writer.clear(changesHeadBytes)
    this.#lastPlace = -1
    this.#runFirst = -1
    this.#runLength = 0
  }

  /** With room for the head of a message in front. */
  take(): Uint8Array {
    this.#flushRun()
    return this.#writer.take()
  }

  head(type: number, place: number): void {
    this.#flushRun()
    this.#writer.varint(type + 16 * zigzag(place - this.#lastPlace))
    this.#lastPlace = place
  }

  /** The number at a place grows. */
  grow(place: number, step: number): void {
    if (place !== this.#runFirst + this.#runLength || this.#runLength === runMax) {
      this.#flushRun()
      this.#runFirst = place
    }
    this.#run[this.#runLength] = step
    this.#runLength += 1
  }

  text(place: number, type: number, text: string): void {
    this.head(type, place)
    this.#writer.text(text)
  }

  length(box: Box, length: number): void {
    this.#flushRun()
    this.#writer.u8(stateTypes.length)
    this.#writer.varint(box.number)
    this.#writer.varint(length)
  }

  place(slot: Slot, box: Box): void {
    this.#flushRun()
    writePlace(this.#writer, slot, box)
  }

  box(box: Box): void {
    this.#flushRun()
    writeBox(this.#writer, box)
  }

  #flushRun(): void {
    const run = this.#run
    const length = this.#runLength
    if (length === 0) return
    this.#writer.varint(stateTypes.grow + 16 * zigzag(this.#runFirst - this.#lastPlace))
    this.#writer.u8(length)
    this.#writer.ints(run, length)
    this.#lastPlace = this.#runFirst + length - 1
    this.#runFirst = -1
    this.#runLength = 0
  }
}

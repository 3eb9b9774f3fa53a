import { readVarint } from '../varint.ts'
import { closeSessionCapsule, frameTypes } from './http3.ts'

/** What the stream of a request brings. */
export type RequestEvents = {
  headers(block: Uint8Array): void
  /** The peer has ended its session. */
  closeSession(code: number): void
  /** Something is larger than it may be. */
  tooLarge(): void
}

/** A block of headers or a capsule is at most so large. */
const partBytesMax = 16 * 1024

/** Cuts the stream of a request into frames, and their data into capsules. */
export class RequestStream {
  readonly #events: RequestEvents
  readonly #frames: PartReader
  readonly #capsules: PartReader

  constructor(events: RequestEvents) {
    this.#events = events
    this.#capsules = new PartReader(closeSessionCapsule, (capsule) => {
      const code = Buffer.from(capsule.subarray(0, 4))
      events.closeSession(code.length === 4 ? code.readUInt32BE() : 0)
    })
    this.#frames = new PartReader(frameTypes.headers, (block) => events.headers(block))
  }

  push(bytes: Uint8Array): void {
    const isWhole = this.#frames.push(bytes, frameTypes.data, (data) => {
      if (!this.#capsules.push(data)) this.#events.tooLarge()
    })
    if (!isWhole) this.#events.tooLarge()
  }
}

/** Reads parts of type, length and value; all but those of one type are read over. */
class PartReader {
  readonly #type: number
  readonly #take: (value: Uint8Array) => void
  #head = Buffer.alloc(0)
  #part: { type: number; left: number } | undefined
  #kept: Uint8Array[] = []

  constructor(type: number, take: (value: Uint8Array) => void) {
    this.#type = type
    this.#take = take
  }

  /** False when a part is too large. Values of the type `through` are passed on as they come. */
  push(bytes: Uint8Array, through?: number, pass?: (data: Uint8Array) => void): boolean {
    let rest = bytes
    while (rest.length > 0 || this.#part?.left === 0) {
      if (this.#part === undefined) {
        this.#head = Buffer.concat([this.#head, rest])
        const type = readVarint(this.#head)
        const length = type && readVarint(this.#head, type.end)
        if (type === undefined || length === undefined) return true
        rest = this.#head.subarray(length.end)
        this.#head = Buffer.alloc(0)
        if (type.value === this.#type && length.value > partBytesMax) return false
        this.#part = { type: type.value, left: length.value }
      }
      const { type, left } = this.#part
      const value = rest.subarray(0, left)
      rest = rest.subarray(value.length)
      this.#part.left -= value.length
      if (type === through) pass?.(value)
      else if (type === this.#type) this.#kept.push(value)
      if (this.#part.left > 0) continue
      this.#part = undefined
      if (type !== this.#type) continue
      const whole = Buffer.concat(this.#kept)
      this.#kept = []
      this.#take(whole)
    }
    return true
  }
}

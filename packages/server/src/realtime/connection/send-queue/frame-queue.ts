import type { OutgoingFrame } from '../../frames/outgoing-frame.ts'

/** One lane of one connection: first in, first out, knowing its bytes. */
export class FrameQueue {
  #frames: OutgoingFrame[] = none
  #head = 0
  #bytes = 0

  get length(): number {
    return this.#frames.length - this.#head
  }

  get bytes(): number {
    return this.#bytes
  }

  push(frame: OutgoingFrame): void {
    // Mostly it stays alone: a list that is pushed to has room for many more.
    if (this.#frames === none) this.#frames = [frame]
    else this.#frames.push(frame)
    this.#bytes += frame.bytes.length
  }

  /** Pushes all but those with the merge key `except`. */
  pushOthers(frames: readonly OutgoingFrame[], except: number): void {
    for (const frame of frames) if (frame.mergeKey !== except) this.push(frame)
  }

  /** The frame `index` places behind the first. */
  at(index: number): OutgoingFrame | undefined {
    return this.#frames[this.#head + index]
  }

  /** Takes `count` frames from the front and answers with their bytes. */
  drop(count: number): number {
    const before = this.#bytes
    if (count >= this.length) {
      this.#frames = none
      this.#head = 0
      this.#bytes = 0
      return before
    }
    const end = this.#head + count
    for (let index = this.#head; index < end; index += 1) {
      this.#bytes -= this.#frames[index]?.bytes.length ?? 0
    }
    this.#head = end
    // What was taken is let go at the latest when it is half of the array, so that a queue that
    // never runs empty neither grows without end nor is copied for every frame.
    if (2 * end >= this.#frames.length) {
      this.#frames = this.#frames.slice(end)
      this.#head = 0
    }
    return before - this.#bytes
  }

  /** Takes out everything. */
  takeAll(): OutgoingFrame[] {
    const frames = this.#frames.slice(this.#head)
    this.drop(frames.length)
    return frames
  }

  /** Puts `frame` in the place of the one with its merge key; the change in bytes, or undefined. */
  merge(frame: OutgoingFrame): number | undefined {
    if (frame.mergeKey === 0) return undefined
    for (let index = this.#frames.length - 1; index >= this.#head; index -= 1) {
      const waiting = this.#frames[index]
      if (waiting?.mergeKey !== frame.mergeKey) continue
      this.#frames[index] = frame
      const change = frame.bytes.length - waiting.bytes.length
      this.#bytes += change
      return change
    }
    return undefined
  }
}

/** Of a queue without frames; nothing is ever put into it. */
const none: OutgoingFrame[] = []

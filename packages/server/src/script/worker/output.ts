import { listAt, op, recordWords } from '../wire/output-records.ts'
import type { Ending } from './endings.ts'

/** What a script hands over as a body; text stands for its UTF-8 bytes. */
export type Body = Uint8Array | string

type TimerOperation = typeof op.after | typeof op.every | typeof op.cancel

type End = Omit<Ending, 'status'> & { cpuUs: number }

/** Which call a command belongs to, and in which of its rooms. */
export type CallPlace = { id: number; room_id: number | null }

export type Broadcast = {
  kind: number
  unreliable: boolean
  sender: number
  room_id: number | null
  except: readonly number[]
  topic?: string | undefined
}

/**
 * Collects the records of a turn. What a slice adds stays provisional until it is committed; a
 * slice that fails is rolled back. An interrupt may strike anywhere in here, so every change
 * becomes visible through a few plain assignments at the end.
 */
export class Output {
  #words = new Float64Array(64)
  #wordCount = 0
  #bytes = new Uint8Array(256)
  #byteCount = 0
  #texts: string[] = []
  #committedWords = 0
  #committedBytes = 0
  #committedTexts = 0
  /** The last record, while it is a send that more receivers may join. */
  #open: { at: number; kind: number; unreliable: boolean; body: Body; length: number } | undefined

  get byteCount(): number {
    return this.#byteCount
  }

  get isEmpty(): boolean {
    return this.#wordCount === 0
  }

  /** Copies a body behind the others and returns its length; the next record takes it up. */
  place(body: Body): number {
    if (typeof body === 'string') {
      this.#reserveBytes(body.length * 3)
      return encoder.encodeInto(body, this.#bytes.subarray(this.#byteCount)).written
    }
    const length = body.length
    this.#reserveBytes(length)
    if (length > smallBytes) this.#bytes.set(body, this.#byteCount)
    else for (let n = 0; n < length; n += 1) this.#bytes[this.#byteCount + n] = body[n] ?? 0
    return length
  }

  /**
   * The length of the body if a send of it may join the record before: the same body, unchanged,
   * with the same kind. -1 if it needs a record of its own.
   */
  joinable(kind: number, body: Body, unreliable: boolean): number {
    const open = this.#open
    if (!open || open.body !== body || open.kind !== kind || open.unreliable !== unreliable)
      return -1
    if (typeof body !== 'string' && !this.#stillEquals(body, open.length)) return -1
    return open.length
  }

  /** Adds a receiver to the record that `joinable` spoke of. */
  join(participant: number): void {
    this.#reserveWords(1)
    const open = this.#open
    if (!open) return
    this.#words[this.#wordCount] = participant
    const at = open.at + listAt.send
    this.#words[at] = (this.#words[at] ?? 0) + 1
    this.#wordCount += 1
  }

  send(
    kind: number,
    unreliable: boolean,
    participant: number,
    sent: { body: Body; length: number },
  ) {
    this.#reserveWords(recordWords.send + 1)
    const words = this.#words
    const at = this.#wordCount
    words[at] = op.send
    words[at + 1] = kind
    words[at + 2] = unreliable ? 1 : 0
    words[at + 3] = this.#byteCount
    words[at + 4] = sent.length
    words[at + 5] = 1
    words[at + 6] = participant
    this.#open = { at, kind, unreliable, body: sent.body, length: sent.length }
    this.#byteCount += sent.length
    this.#wordCount = at + 7
  }

  broadcast({ kind, unreliable, sender, room_id, except, topic }: Broadcast, length: number): void {
    this.#reserveWords(recordWords.broadcast + except.length)
    const words = this.#words
    const at = this.#wordCount
    words[at] = op.broadcast
    words[at + 1] = kind
    words[at + 2] = unreliable ? 1 : 0
    words[at + 3] = this.#byteCount
    words[at + 4] = length
    words[at + 5] = sender
    words[at + 6] = room_id ?? -1
    words[at + 7] = topic === undefined ? -1 : this.#texts.length
    if (topic !== undefined) this.#texts[this.#texts.length] = topic
    words[at + 8] = except.length
    for (let n = 0; n < except.length; n += 1) words[at + 9 + n] = except[n] ?? 0
    this.#open = undefined
    this.#byteCount += length
    this.#wordCount = at + recordWords.broadcast + except.length
  }

  timer(operation: TimerOperation, timer: number, delayMs: number): void {
    this.#reserveWords(recordWords.after)
    const at = this.#wordCount
    this.#words[at] = operation
    this.#words[at + 1] = timer
    this.#words[at + 2] = delayMs
    this.#open = undefined
    this.#wordCount = at + (operation === op.cancel ? recordWords.cancel : recordWords.after)
  }

  /** A command of the table: the index of its name, and its arguments as JSON. */
  command(name: number, text: string, { id = 0, room_id = null }: Partial<CallPlace> = {}): void {
    this.#reserveWords(recordWords.command)
    const words = this.#words
    const at = this.#wordCount
    words[at] = op.command
    words[at + 1] = name
    words[at + 2] = this.#texts.length
    words[at + 3] = id
    words[at + 4] = room_id ?? -1
    this.#texts[this.#texts.length] = text
    this.#open = undefined
    this.#wordCount = at + recordWords.command
  }

  /** A body of kind 50 for members of a room. */
  state(
    room_id: number,
    { body, participants }: { body: Uint8Array; participants: readonly number[] },
  ): void {
    const length = this.place(body)
    const count = participants.length
    this.#reserveWords(recordWords.state + count)
    const words = this.#words
    const at = this.#wordCount
    words[at] = op.state
    words[at + 1] = room_id
    words[at + 2] = this.#byteCount
    words[at + 3] = length
    words[at + 4] = count
    for (let n = 0; n < count; n += 1) words[at + 5 + n] = participants[n] ?? 0
    this.#open = undefined
    this.#byteCount += length
    this.#wordCount = at + recordWords.state + count
  }

  /** The state of a room, for the node to keep. */
  saved(room_id: number, seq: number, text: string): void {
    this.#reserveWords(recordWords.saved)
    const at = this.#wordCount
    this.#words[at] = op.saved
    this.#words[at + 1] = room_id
    this.#words[at + 2] = seq
    this.#words[at + 3] = this.#texts.length
    this.#texts[this.#texts.length] = text
    this.#open = undefined
    this.#wordCount = at + recordWords.saved
  }

  /** A handler that no call waits for has failed. */
  fault(handler: string, text: string): void {
    this.#reserveWords(recordWords.fault)
    const at = this.#wordCount
    this.#words[at] = op.fault
    this.#words[at + 1] = this.#texts.length
    this.#words[at + 2] = this.#texts.length + 1
    this.#texts[this.#texts.length] = handler
    this.#texts[this.#texts.length] = text
    this.#open = undefined
    this.#wordCount = at + recordWords.fault
  }

  /** A tick of a room was left out. */
  skipped(): void {
    this.#reserveWords(recordWords.skipped)
    this.#words[this.#wordCount] = op.skipped
    this.#open = undefined
    this.#wordCount += recordWords.skipped
  }

  /** Reports a failed run of a call that has several. */
  failed(id: number, status: number, end: { cpuUs: number; text?: string }): void {
    this.#reserveWords(recordWords.failed)
    const words = this.#words
    const at = this.#wordCount
    words[at] = op.failed
    words[at + 1] = id
    words[at + 2] = status
    words[at + 3] = end.cpuUs
    words[at + 4] = end.text === undefined ? -1 : this.#texts.length
    if (end.text !== undefined) this.#texts[this.#texts.length] = end.text
    this.#open = undefined
    this.#wordCount = at + recordWords.failed
  }

  /** Ends an invocation: `length` bytes were placed as its reply. */
  done(id: number, status: number, end: End): void {
    this.#reserveWords(recordWords.done)
    const words = this.#words
    const at = this.#wordCount
    words[at] = op.done
    words[at + 1] = id
    words[at + 2] = status
    words[at + 3] = end.cpuUs
    words[at + 4] = end.handed === undefined ? this.#byteCount : -end.handed
    words[at + 5] = end.length
    words[at + 6] = end.text === undefined ? -1 : this.#texts.length
    if (end.text !== undefined) this.#texts[this.#texts.length] = end.text
    this.#open = undefined
    this.#byteCount += end.length
    this.#wordCount = at + recordWords.done
  }

  /** Makes everything so far definite, and the invocation with it what it now is. */
  commit<State>(invocation: { state: State } | undefined, state: State): void {
    this.#open = undefined
    this.#committedBytes = this.#byteCount
    this.#committedTexts = this.#texts.length
    this.#committedWords = this.#wordCount
    if (invocation) invocation.state = state
  }

  /** Drops what was added since the last commit. */
  rollback(): void {
    this.#open = undefined
    this.#wordCount = this.#committedWords
    this.#byteCount = this.#committedBytes
    this.#texts.length = this.#committedTexts
  }

  /** Moves what was added since the last commit to the end of `target`. */
  moveTail(target: Output): void {
    target.#absorb(this, {
      word: this.#committedWords,
      byte: this.#committedBytes,
      text: this.#committedTexts,
    })
    this.rollback()
  }

  /** Moves everything to the end of `target`. */
  moveAll(target: Output): void {
    if (this.#wordCount === 0 && this.#byteCount === 0) return
    target.#absorb(this, { word: 0, byte: 0, text: 0 })
    this.#reset()
  }

  /** The turn's records as they travel: bodies, filled up to eight bytes, then the words. */
  take(): { buffer: ArrayBuffer; words: number; texts: string[] } {
    const wordsAt = (this.#byteCount + 7) & ~7
    const buffer = new ArrayBuffer(wordsAt + this.#wordCount * 8)
    new Uint8Array(buffer).set(this.#bytes.subarray(0, this.#byteCount))
    new Float64Array(buffer, wordsAt).set(this.#words.subarray(0, this.#wordCount))
    const taken = { buffer, words: this.#wordCount, texts: this.#texts }
    this.#reset()
    return taken
  }

  #reset(): void {
    this.#texts = []
    this.#wordCount = 0
    this.#byteCount = 0
    this.#open = undefined
    this.#committedWords = 0
    this.#committedBytes = 0
    this.#committedTexts = 0
    if (this.#bytes.length > keptBytes) this.#bytes = new Uint8Array(256)
    if (this.#words.length > keptWords) this.#words = new Float64Array(64)
  }

  /** Takes the records of commands; one that ends an invocation is never moved. */
  #absorb(source: Output, from: { word: number; byte: number; text: number }): void {
    const words = source.#wordCount - from.word
    const bytes = source.#byteCount - from.byte
    const texts = this.#texts.length
    this.#reserveWords(words)
    this.#reserveBytes(bytes)
    this.#words.set(source.#words.subarray(from.word, source.#wordCount), this.#wordCount)
    this.#bytes.set(source.#bytes.subarray(from.byte, source.#byteCount), this.#byteCount)
    for (let n = from.text; n < source.#texts.length; n += 1) {
      this.#texts[this.#texts.length] = source.#texts[n] ?? ''
    }
    const end = this.#wordCount + words
    this.#relocate(end, { bytes: this.#byteCount - from.byte, texts: texts - from.text })
    this.#open = undefined
    this.#byteCount += bytes
    this.#wordCount += words
  }

  /** Corrects where the records up to `end` say that their bodies and texts stand. */
  #relocate(end: number, by: { bytes: number; texts: number }): void {
    const words = this.#words
    for (let next = this.#wordCount; next < end; ) {
      const operation = words[next]
      if (operation === op.send || operation === op.broadcast) {
        words[next + 3] = (words[next + 3] ?? 0) + by.bytes
        const topic = words[next + 7] ?? -1
        if (operation === op.broadcast && topic !== -1) words[next + 7] = topic + by.texts
      } else if (operation === op.command) {
        words[next + 2] = (words[next + 2] ?? 0) + by.texts
      } else if (operation === op.state) {
        words[next + 2] = (words[next + 2] ?? 0) + by.bytes
      } else if (operation === op.saved) {
        words[next + 3] = (words[next + 3] ?? 0) + by.texts
      } else if (operation === op.fault) {
        words[next + 1] = (words[next + 1] ?? 0) + by.texts
        words[next + 2] = (words[next + 2] ?? 0) + by.texts
      }
      next += recordLength(words, next)
    }
  }

  #stillEquals(body: Uint8Array, length: number): boolean {
    if (body.length !== length) return false
    const from = this.#byteCount - length
    if (length > smallBytes) {
      return compareBytes(body, this.#bytes.subarray(from, this.#byteCount)) === 0
    }
    for (let n = 0; n < length; n += 1) if (body[n] !== this.#bytes[from + n]) return false
    return true
  }

  #reserveWords(count: number): void {
    const wanted = this.#wordCount + count
    if (wanted <= this.#words.length) return
    const larger = new Float64Array(Math.max(wanted, this.#words.length * 2))
    larger.set(this.#words.subarray(0, this.#wordCount))
    this.#words = larger
  }

  #reserveBytes(count: number): void {
    const wanted = this.#byteCount + count
    if (wanted <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(wanted, this.#bytes.length * 2))
    larger.set(this.#bytes.subarray(0, this.#byteCount))
    this.#bytes = larger
  }
}

const encoder = new TextEncoder()
const compareBytes = Buffer.compare

/** Up to this many bytes a loop is faster than a call into the engine. */
const smallBytes = 64

/** Larger storage is given back after the turn that needed it. */
const keptBytes = 1_048_576
const keptWords = 131_072

function recordLength(words: Float64Array, at: number): number {
  switch (words[at]) {
    case op.send:
      return recordWords.send + (words[at + listAt.send] ?? 0)
    case op.broadcast:
      return recordWords.broadcast + (words[at + listAt.broadcast] ?? 0)
    case op.after:
    case op.every:
      return recordWords.after
    case op.cancel:
      return recordWords.cancel
    case op.command:
      return recordWords.command
    case op.failed:
      return recordWords.failed
    case op.state:
      return recordWords.state + (words[at + listAt.state] ?? 0)
    case op.saved:
      return recordWords.saved
    case op.fault:
      return recordWords.fault
    case op.skipped:
      return recordWords.skipped
    default:
      return recordWords.done
  }
}

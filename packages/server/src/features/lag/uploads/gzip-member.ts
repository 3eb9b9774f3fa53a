import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib'
import { release } from './release.ts'

/** Thrown for bytes that are not exactly one gzip member. */
export class GzipFault extends Error {
  override readonly name = 'GzipFault'
}

/** Longest header of a member, with its name and comment. */
const headerBytesMax = 1024
const trailerBytes = 8
/** As much as comes off a socket at once: each piece is a job of the thread pool. */
const chunkSize = 65_536
const flag = { headerCrc: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 } as const

/** Takes a piece; the next one is unpacked once what it returns has resolved. */
type OnInflated = (chunk: Buffer) => Promise<void> | undefined

/**
 * Unpacks exactly one gzip member as it arrives, without keeping it. The header and the trailer are
 * read here, because `createGunzip` does not show where it saw the end of a member.
 */
export class GzipMember {
  readonly #onInflated: OnInflated
  readonly #inflate: InflateRaw = createInflateRaw({ chunkSize })
  #header: Buffer | undefined = Buffer.alloc(0)
  #headerBytes = 0
  #total = 0
  /** The last bytes so far, of which the trailer is made. */
  #tail = Buffer.alloc(0)
  #inflated = 0
  #crc = 0
  #isEnded = false
  #fault: Error | undefined
  /** Ends the wait for the step that is under way. */
  #settle: (() => void) | undefined

  /**
   * @param onInflated what it throws or rejects with ends the unpacking, and is thrown again by
   *   `write`; the bytes that it was given are detached once it returns: it must copy what it keeps
   */
  constructor(onInflated: OnInflated) {
    this.#onInflated = onInflated
    this.#inflate.on('data', (chunk: Buffer) => this.#take(chunk))
    this.#inflate.on('end', () => {
      this.#isEnded = true
      this.#settle?.()
    })
    this.#inflate.on('error', (error) => this.#fail(new GzipFault(error.message)))
  }

  /** Resolves when the bytes are unpacked, but for the last piece or two of what they came to. */
  async write(chunk: Buffer): Promise<void> {
    this.#total += chunk.length
    this.#tail = Buffer.concat([this.#tail, chunk.subarray(-trailerBytes)]).subarray(-trailerBytes)
    const body = this.#behindHeader(chunk)
    if (body.length > 0 && !this.#isEnded) {
      await this.#step((done) => this.#inflate.write(body, done))
    }
    if (this.#fault !== undefined) throw this.#fault
  }

  /** Everything has been written: throws unless it was one member and nothing else. */
  async end(): Promise<void> {
    if (!this.#isEnded && this.#fault === undefined) {
      // Its last pieces may still wait: the end of what is read counts, or a fault.
      await this.#step(() => this.#inflate.end())
    }
    if (this.#fault !== undefined) throw this.#fault
    if (this.#header !== undefined || !this.#isEnded) throw new GzipFault('it ends too early')
    const used = this.#headerBytes + this.#inflate.bytesWritten + trailerBytes
    if (used !== this.#total) throw new GzipFault('the member does not end with the body')
    const isWhole =
      this.#tail.readUInt32LE(0) === this.#crc &&
      this.#tail.readUInt32LE(4) === this.#inflated % 2 ** 32
    if (!isWhole) throw new GzipFault('the checksum differs')
  }

  destroy(): void {
    this.#inflate.destroy()
    this.#settle?.()
  }

  #take(chunk: Buffer): void {
    if (this.#fault !== undefined) return
    this.#inflated += chunk.length
    this.#crc = crc32(chunk, this.#crc)
    try {
      const turn = this.#onInflated(chunk)
      if (turn !== undefined) this.#pauseUntil(turn)
    } catch (error) {
      this.#fail(error)
    }
    // Up to its end a buffer is filled piece by piece.
    if (chunk.byteOffset + chunk.length === chunk.buffer.byteLength) release(chunk)
  }

  /** One more piece at most is unpacked meanwhile, and kept. */
  #pauseUntil(turn: Promise<void>): void {
    this.#inflate.pause()
    turn.then(
      () => this.#inflate.resume(),
      (error) => this.#fail(error),
    )
  }

  #fail(error: unknown): void {
    this.#fault ??= error instanceof Error ? error : new Error(String(error))
    this.destroy()
  }

  /** Once a member has ended, what is written behind it is never answered. */
  #step(run: (done: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      this.#settle = resolve
      run(resolve)
    })
  }

  /** What of a chunk is behind the header of the member. */
  #behindHeader(chunk: Buffer): Buffer {
    if (this.#header === undefined) return chunk
    const header = Buffer.concat([this.#header, chunk])
    const length = headerLength(header)
    if (length === undefined) {
      if (header.length > headerBytesMax) this.#fail(new GzipFault('the header is too long'))
      this.#header = header
      return Buffer.alloc(0)
    }
    this.#header = undefined
    this.#headerBytes = length
    return header.subarray(length)
  }
}

/** Bytes of a header; undefined as long as it is not whole. */
function headerLength(bytes: Buffer): number | undefined {
  const wrong = [0x1f, 0x8b, 8].some((byte, at) => at < bytes.length && bytes[at] !== byte)
  if (wrong) throw new GzipFault('no gzip')
  const flags = bytes[3]
  if (flags === undefined) return undefined
  if ((flags & flag.reserved) !== 0) throw new GzipFault('unknown flags')
  let at = 10
  if ((flags & flag.extra) !== 0) {
    if (bytes.length < at + 2) return undefined
    at += 2 + bytes.readUInt16LE(at)
  }
  for (const text of [flag.name, flag.comment]) {
    if ((flags & text) === 0) continue
    const end = bytes.indexOf(0, at)
    if (end < 0) return undefined
    at = end + 1
  }
  if ((flags & flag.headerCrc) !== 0) at += 2
  return bytes.length >= at ? at : undefined
}

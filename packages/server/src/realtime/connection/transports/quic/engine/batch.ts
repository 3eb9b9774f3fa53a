/**
 * What crosses between the node and the engine's thread: one message per turn in each direction, as
 * one piece of memory, which is transferred: a second one would nearly double what a message costs.
 * It has the number of rows, the rows, and a block of bytes that the rows point into.
 */
export type Batch = Uint8Array<ArrayBuffer>

/** One command to the engine, or one event from it; what a kind does not need is 0 or empty. */
export type Row = {
  kind: number
  connection: number
  stream: number
  value: number
  bytes: Uint8Array
}

/** Kind, connection, stream, value, offset and length of the bytes. */
const columns = 6
const numberBytes = 8
const rowsAtFirst = 64
const bytesAtFirst = 16 * 1024

export class BatchWriter {
  #rows = new Float64Array(rowsAtFirst * columns)
  #bytes = new Uint8Array(bytesAtFirst)
  #rowsEnd = 0
  #bytesEnd = 0

  get isEmpty(): boolean {
    return this.#rowsEnd === 0
  }

  add(kind: number, connection: number, row: Partial<Row> = {}): void {
    const { stream = 0, value = 0, bytes } = row
    const length = bytes?.length ?? 0
    this.#reserve(length)
    if (bytes !== undefined) this.#bytes.set(bytes, this.#bytesEnd)
    const rows = this.#rows
    rows[this.#rowsEnd] = kind
    rows[this.#rowsEnd + 1] = connection
    rows[this.#rowsEnd + 2] = stream
    rows[this.#rowsEnd + 3] = value
    rows[this.#rowsEnd + 4] = this.#bytesEnd
    rows[this.#rowsEnd + 5] = length
    this.#rowsEnd += columns
    this.#bytesEnd += length
  }

  /** What was added, cut to size; the next batch begins empty. */
  take(): Batch {
    const bytesAt = (1 + this.#rowsEnd) * numberBytes
    const batch = new Uint8Array(bytesAt + this.#bytesEnd)
    const numbers = new Float64Array(batch.buffer, 0, 1 + this.#rowsEnd)
    numbers[0] = this.#rowsEnd
    numbers.set(this.#rows.subarray(0, this.#rowsEnd), 1)
    batch.set(this.#bytes.subarray(0, this.#bytesEnd), bytesAt)
    this.#rowsEnd = 0
    this.#bytesEnd = 0
    // A burst must not keep its memory.
    if (this.#bytes.length > 64 * bytesAtFirst) this.#bytes = new Uint8Array(bytesAtFirst)
    return batch
  }

  #reserve(length: number): void {
    if (this.#rowsEnd + columns > this.#rows.length) {
      const grown = new Float64Array(this.#rows.length * 2)
      grown.set(this.#rows)
      this.#rows = grown
    }
    if (this.#bytesEnd + length <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#bytesEnd + length))
    grown.set(this.#bytes.subarray(0, this.#bytesEnd))
    this.#bytes = grown
  }
}

/** Calls `take` with each row of a batch; the row is one object that changes. */
export function readBatch(batch: Batch, take: (row: Row) => void): void {
  const rows = rowsOf(batch)
  const bytes = batch.subarray((1 + rows.length) * numberBytes)
  const row: Row = { kind: 0, connection: 0, stream: 0, value: 0, bytes }
  for (let at = 0; at < rows.length; at += columns) {
    row.kind = rows[at] ?? 0
    row.connection = rows[at + 1] ?? 0
    row.stream = rows[at + 2] ?? 0
    row.value = rows[at + 3] ?? 0
    const offset = rows[at + 4] ?? 0
    row.bytes = bytes.subarray(offset, offset + (rows[at + 5] ?? 0))
    take(row)
  }
}

/** How many bytes its rows carry. */
export function payloadBytes(batch: Batch): number {
  return batch.length - (1 + rowsOf(batch).length) * numberBytes
}

export function isBatch(message: unknown): message is Batch {
  return message instanceof Uint8Array
}

function rowsOf({ buffer }: Batch): Float64Array {
  const [count = 0] = new Float64Array(buffer, 0, 1)
  return new Float64Array(buffer, numberBytes, count)
}

/**
 * Where the release keeps what a connection holds: from the connection's own place, and from that
 * of a stream, of the path, and of a buffer.
 */
const ofConnection = {
  /** The streams of the handshake, one for each kind of packet. */
  handshakes: [904, 4776, 8648],
  readBytes: 12_896,
  streams: 12_960,
  /** A table of the ids of streams that are over. */
  endedStreams: 12_976,
  path: 13_348,
  datagrams: 13_436,
  datagramBytes: 13_444,
  receivedBytes: 13_520,
} as const
const ofPath = { sentPackets: 324 } as const
const ofStream = {
  readBytes: 88,
  receivedBytes: 96,
  pieces: 112,
  buffers: 260,
  firstBuffer: 264,
  bufferCount: 268,
  sentBytes: 272,
} as const
/** Of a table, behind where its entries are. */
const ofTable = { mask: 4, entries: 12 } as const
const streamBytes = 328
const bufferBytes = 40

/** What the engine takes for one of them beside its bytes, by measurements. */
const costs = { stream: 2048, piece: 160, packet: 384, buffer: 64, datagram: 64, endedStream: 18 }

/** A handshake has a handful of pieces, and what a window can miss of packets is below this. */
const handshakePiecesMax = 128
const piecesMax = 1024

/** What one connection of the engine holds, as the engine's memory says; `at` is its place. */
export class ConnectionMemory {
  readonly #memory: Buffer
  readonly #at: number

  constructor(memory: Buffer, at: number) {
    this.#memory = memory
    this.#at = at
  }

  /** What it holds beyond what an idle one has, in bytes. */
  heldBytes(): number {
    if (this.#isGone()) return 0
    const { endedStreams, path, datagrams, datagramBytes } = ofConnection
    const sentPackets = this.#u32(this.#u32(this.#at + path) + ofPath.sentPackets)
    let bytes = sentPackets * costs.packet
    bytes += (this.#u32(this.#at + endedStreams + ofTable.mask) + 1) * costs.endedStream
    bytes += this.#u32(this.#at + datagrams) * costs.datagram + this.#u32(this.#at + datagramBytes)
    for (const handshake of ofConnection.handshakes) bytes += this.#waiting(this.#at + handshake)
    for (const stream of this.#streams()) {
      bytes += costs.stream + this.#waiting(stream) + this.#unacknowledged(stream)
      bytes += this.#u32(stream + ofStream.bufferCount) * costs.buffer
    }
    return bytes
  }

  /** Whether what it has received is in more pieces than a peer of good will sends. */
  isInPieces(): boolean {
    if (this.#isGone()) return false
    if (this.#handshakePieces() > handshakePiecesMax) return true
    const { receivedBytes, readBytes } = ofConnection
    if (this.#number(this.#at + receivedBytes) === this.#number(this.#at + readBytes)) return false
    let pieces = 0
    for (const stream of this.#streams()) pieces += this.#u32(stream + ofStream.pieces)
    return pieces > piecesMax
  }

  streamIds(): number[] {
    return [...this.#streams()].map((stream) => this.#number(stream))
  }

  /** Bytes of all streams that were given and that the peer has not acknowledged. */
  unacknowledgedBytes(): number {
    let bytes = 0
    for (const stream of this.#streams()) bytes += this.#unacknowledged(stream)
    return bytes
  }

  /** What has come and was not read. */
  #waiting(stream: number): number {
    const { receivedBytes, readBytes, pieces } = ofStream
    const bytes = this.#number(stream + receivedBytes) - this.#number(stream + readBytes)
    return bytes + this.#u32(stream + pieces) * costs.piece
  }

  /** All from the first byte that is missing, as the engine keeps it. */
  #unacknowledged(stream: number): number {
    if (this.#u32(stream + ofStream.bufferCount) === 0) return 0
    const buffers = this.#u32(stream + ofStream.buffers)
    const first = buffers + this.#u32(stream + ofStream.firstBuffer) * bufferBytes
    return this.#number(stream + ofStream.sentBytes) - this.#number(first)
  }

  /** The place of a connection that is over has ones in front, and is of no meaning behind them. */
  #isGone(): boolean {
    const at = this.#at
    return (this.#u32(at) & this.#u32(at + 4) & this.#u32(at + 8) & this.#u32(at + 12)) === -1
  }

  #handshakePieces(): number {
    let pieces = 0
    for (const at of ofConnection.handshakes) pieces += this.#u32(this.#at + at + ofStream.pieces)
    return pieces
  }

  /** A table's entries stand in front of a byte for each, whose first bit says that it is free. */
  *#streams(): Iterable<number> {
    if (this.#isGone()) return
    const table = this.#at + ofConnection.streams
    const flags = this.#u32(table)
    let left = this.#u32(table + ofTable.entries)
    for (let entry = 0; left > 0; entry += 1) {
      if (((this.#memory[flags + entry] ?? 0) & 0x80) !== 0) continue
      left -= 1
      yield flags - (entry + 1) * streamBytes
    }
  }

  #u32(at: number): number {
    return this.#memory.readUInt32LE(at)
  }

  #number(at: number): number {
    return this.#memory.readUInt32LE(at) + this.#memory.readUInt32LE(at + 4) * 2 ** 32
  }
}

import { createSocket, type Socket } from 'node:dgram'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Http3WasmCore, loadHttp3WasmCore } from '@currentspace/http3/wasm'

type Event = { eventType: number; streamId: number; dataOff?: number; dataLen?: number }

const events = { data: [2, 4], closed: 7, established: 11, datagram: 14 } as const
/** A client takes 280 KiB of the GiB that an engine may have. */
const connectionsPerCore = 1000
/** What the node mends: memory for few, buffers of 16 MiB, a trap where TLS fails, no windows. */
const patches = [
  { before: [0x01, 0x01, 0x15, 0x80, 0x08], after: [0x01, 0x01, 0x15, 0xff, 0x7f] },
  {
    before: [0x41, 0x80, 0x02, 0x21, 0x03, 0x23, 0x00, 0x41, 0x10, 0x6b],
    after: [0x41, 0x81, 0x00],
  },
  {
    before: [0x10, 0xc9, 0x09, 0x1a, 0x00, 0x0b, 0x42, 0x00],
    after: [0x0c, 0x02, 0x01, 0x01, 0x01],
  },
  ...Array.from({ length: 4 }, () => ({
    before: [0x42, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x9a, 0xc0, 0x00],
    after: [0x42, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0xf8, 0xbf, 0x00],
  })),
]
const windowBytes = 1 << 20

let engine: Uint8Array<ArrayBuffer> | undefined
const cores: { core: Http3WasmCore; connections: number }[] = []
let made = 0

function freeCore(): (typeof cores)[number] {
  const found = cores.find(({ connections }) => connections < connectionsPerCore)
  if (found !== undefined) return found
  engine ??= mendedEngine()
  const added = { core: loadHttp3WasmCore({ bytes: engine }), connections: 0 }
  cores.push(added)
  return added
}

function mendedEngine(): Uint8Array<ArrayBuffer> {
  const folder = dirname(createRequire(import.meta.url).resolve('@currentspace/http3/wasm'))
  const file = readFileSync(join(folder, 'http3_client.wasm'))
  for (const { before, after } of patches) file.set(after, file.indexOf(Buffer.from(before)))
  return Uint8Array.from(file)
}

/**
 * A client of raw QUIC: frames on stream 0, what the node sends on its stream, and datagrams. What
 * it was given in a turn leaves at the end of it.
 */
export class QuicLoadClient {
  /** Gets each piece of what the node sends: raw QUIC has one stream of the node. */
  onPayload: (piece: Buffer, stream: number) => void = () => {}
  onDatagram: (envelope: Buffer) => void = () => {}
  onClose: () => void = () => {}
  /** When its first packet left. */
  firstPacketAtMs = Number.NaN
  /** How long it had sent all that it could and heard nothing: what is not its own computing. */
  waitedMs = 0
  #waitsSinceMs: number | undefined
  readonly #socket: Socket
  readonly #place: (typeof cores)[number]
  readonly #core: Http3WasmCore
  readonly #handle: number
  readonly #cell: number
  #onOpen: (() => void) | undefined
  #isPumpDue = false
  #isClosed = false
  #timer: NodeJS.Timeout | undefined
  #dueAtMs = Number.POSITIVE_INFINITY

  private constructor(socket: Socket, port: number, alpn: string) {
    this.#socket = socket
    this.#place = freeCore()
    this.#place.connections += 1
    this.#core = this.#place.core
    made += 1
    const { ptr, len } = this.#core.writeUtf8(
      JSON.stringify({
        alpn: [alpn],
        rejectUnauthorized: false,
        serverAddr: `127.0.0.1:${port}`,
        serverName: 'localhost',
        localAddr: `127.0.0.1:${socket.address().port}`,
        scidHex: made.toString(16).padStart(40, 'b'),
        enableDatagrams: true,
        initialMaxData: windowBytes,
        initialMaxStreamDataBidiLocal: windowBytes,
        initialMaxStreamsBidi: 100,
        maxIdleTimeoutMs: 30_000,
      }),
    )
    this.#handle = this.#core.exports.qc_new(ptr, len)
    this.#core.free(ptr, len)
    this.#cell = this.#core.allocOutPtrCell()
    socket.on('error', () => {})
    socket.on('message', (packet) => {
      if (this.#isClosed) return
      this.#hears()
      const { exports } = this.#core
      this.#core.writeAt(exports.qc_rx_buffer(this.#handle), packet)
      exports.qc_recv(this.#handle, packet.length)
      this.#pumpLater()
    })
    this.#pump()
  }

  /** Resolves once the handshake is over. */
  static async open(port: number, alpn = 'guildhall/0'): Promise<QuicLoadClient> {
    const socket = createSocket('udp4')
    await new Promise<void>((resolve) => socket.connect(port, '127.0.0.1', resolve))
    const client = new QuicLoadClient(socket, port, alpn)
    await new Promise<void>((resolve, reject) => {
      client.#onOpen = resolve
      client.onClose = () => reject(new Error('the server refused a QUIC connection'))
    })
    return client
  }

  /** Writes frames on a stream. */
  write(frames: Uint8Array, stream = 0): void {
    const { ptr, len } = this.#core.writeBytes(frames)
    this.#core.exports.qc_stream_send(this.#handle, BigInt(stream), ptr, len, 0)
    this.#core.free(ptr, len)
    this.#pumpLater()
  }

  /** Sends an envelope: kind, then body. */
  datagram(envelope: Uint8Array): void {
    const { ptr, len } = this.#core.writeBytes(envelope)
    this.#core.exports.qc_send_datagram(this.#handle, ptr, len)
    this.#core.free(ptr, len)
    this.#pumpLater()
  }

  /** Leaves at once, with a close that says so. */
  close(): void {
    if (this.#isClosed) return
    const { ptr, len } = this.#core.writeUtf8('')
    this.#core.exports.qc_close(this.#handle, 0, ptr, len)
    this.#core.free(ptr, len)
    this.#pump()
    this.vanish()
  }

  /** Leaves without a word. */
  vanish(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#core.exports.qc_free(this.#handle)
    this.#place.connections -= 1
    // What was given to the socket leaves first.
    setImmediate(() => this.#socket.close())
  }

  #pumpLater(): void {
    if (this.#isPumpDue) return
    this.#isPumpDue = true
    setImmediate(() => this.#pump())
  }

  #pump(): void {
    this.#isPumpDue = false
    if (this.#isClosed) return
    const { exports } = this.#core
    const length = Number(exports.qc_drain_events(this.#handle, this.#cell))
    if (length > 2) {
      const all: Event[] = JSON.parse(this.#core.readOutPtrResultUtf8(this.#cell, length))
      // Their bytes are there until the engine is asked for anything else.
      const taken = all.map((event) => ({ ...event, bytes: this.#bytesOf(event) }))
      for (const event of taken) this.#take(event)
    }
    if (this.#isClosed) return
    for (;;) {
      const size = Number(exports.qc_next_send(this.#handle))
      if (size <= 0) break
      this.#socket.send(this.#core.copyOut(exports.qc_tx_buffer(this.#handle), size))
      this.#waitsSinceMs = performance.now()
      if (Number.isNaN(this.firstPacketAtMs)) this.firstPacketAtMs = this.#waitsSinceMs
    }
    this.#arm(Number(exports.qc_timeout_ms(this.#handle)))
  }

  #hears(): void {
    if (this.#waitsSinceMs !== undefined) this.waitedMs += performance.now() - this.#waitsSinceMs
    this.#waitsSinceMs = undefined
  }

  #bytesOf({ dataOff = 0, dataLen = 0 }: Event): Buffer {
    return dataLen === 0 ? Buffer.alloc(0) : Buffer.from(this.#core.copyOut(dataOff, dataLen))
  }

  #take({ eventType, streamId, bytes }: Event & { bytes: Buffer }): void {
    if (eventType === events.datagram) this.onDatagram(bytes)
    else if (eventType === events.established) this.#onOpen?.()
    else if (eventType === events.closed) this.onClose()
    else if (bytes.length > 0 && events.data.some((type) => type === eventType)) {
      this.onPayload(bytes, streamId)
    }
  }

  /** A timer that is due no earlier than the one that runs needs no other. */
  #arm(timeoutMs: number): void {
    if (timeoutMs < 0) return
    const dueAtMs = performance.now() + timeoutMs
    if (dueAtMs >= this.#dueAtMs) return
    clearTimeout(this.#timer)
    this.#dueAtMs = dueAtMs
    this.#timer = setTimeout(() => {
      this.#dueAtMs = Number.POSITIVE_INFINITY
      this.#core.exports.qc_on_timeout(this.#handle)
      this.#pump()
    }, timeoutMs)
  }
}

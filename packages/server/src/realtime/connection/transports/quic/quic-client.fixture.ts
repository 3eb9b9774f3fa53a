import { createSocket, type Socket } from 'node:dgram'
import { type Http3WasmCore, loadHttp3WasmCore } from '@currentspace/http3/wasm'
import { type Envelope, encodeFrame, FrameDecoder } from '@guildhall/contract'
import { vi } from 'vitest'
import { bytesOf, waiting } from '../../../realtime.fixture.ts'
import type { CoreEvent } from './engine/core.ts'
import { mendEngine, readEngineFile } from './engine/core-file.ts'
import { openInitial } from './engine/initial-packet.fixture.ts'
import { readInitial } from './engine/initial-packet.ts'

const cores = new Map<boolean, Http3WasmCore>()

async function engineOfClients(isBold: boolean): Promise<Http3WasmCore> {
  const known = cores.get(isBold)
  if (known !== undefined) return known
  const bytes = Buffer.from(mendEngine(await readEngineFile()))
  // Where it keeps the window that it begins with: 1,000 packets instead of 10.
  const window = bytes.lastIndexOf('418a003602c803', undefined, 'hex')
  if (isBold) bytes.set([0xe8, 0x07], window + 1)
  const core = loadHttp3WasmCore({ bytes: Uint8Array.from(bytes) })
  cores.set(isBold, core)
  return core
}

type ClientOptions = {
  alpn?: string[]
  /** What the client takes of one stream before it reads. */
  windowBytes?: number
  /** What leaves in place of a packet, undefined for nothing. */
  change?(packet: Uint8Array): Uint8Array | undefined
  /** Sends all that the node's window allows, heard or not. */
  isBold?: boolean
  /** One that another client has as well. */
  socket?: Socket
  /** Where envelopes come: stream 3 from its beginning, and no datagrams, if not given. */
  envelopes?: { stream: number; prefaceBytes: number; datagramPrefaceBytes: number }
}

let made = 0

/** A client of raw QUIC in the process of the test: another instance of the engine. */
export class QuicClient {
  readonly #core: Http3WasmCore
  readonly #socket: Socket
  readonly #handle: number
  readonly #cell: number
  readonly #isSocketShared: boolean
  #timer: NodeJS.Timeout | undefined
  #frames = new FrameDecoder(1 << 24)
  #isFreed = false
  isReading = true
  /** Envelopes of the node's own stream that nobody has looked at. */
  readonly received: Envelope[] = []
  readonly datagrams: Uint8Array[] = []
  /** Bytes of every stream of the node, in order. */
  readonly streams = new Map<number, Buffer>()
  readonly endedStreams = new Set<number>()
  readonly events: CoreEvent[] = []
  established = false
  end: { code: number | undefined; reason: string } | undefined
  packetsOut = 0
  /** Frames of the node's Initial packets, as far as they can be read. */
  readonly initials: Uint8Array[] = []
  /** Resolves with the end of the connection. */
  readonly ended = Promise.withResolvers<{ code: number | undefined; reason: string }>()
  readonly #envelopes: NonNullable<ClientOptions['envelopes']> | undefined
  #prefaceBytes: number
  readonly #change: (packet: Uint8Array) => Uint8Array | undefined
  /** What keys of Initial packets follow from. */
  #firstId = new Uint8Array()

  /** Whether the engine of the client has given the connection up. */
  get isOver(): boolean {
    return this.#core.exports.qc_is_done(this.#handle) !== 0
  }

  static async connect(port: number, options: ClientOptions = {}): Promise<QuicClient> {
    const client = await QuicClient.begin(port, options)
    await vi.waitFor(() => {
      if (!client.established) throw new Error('the handshake is not over')
    }, waiting)
    return client
  }

  /** Begins a handshake without waiting for it. */
  static async begin(port: number, options: ClientOptions = {}): Promise<QuicClient> {
    const loaded = await engineOfClients(options.isBold === true)
    const socket = options.socket ?? (await connectedSocket(port))
    return new QuicClient(loaded, socket, port, options)
  }

  constructor(loaded: Http3WasmCore, socket: Socket, port: number, options: ClientOptions) {
    this.#core = loaded
    this.#socket = socket
    this.#isSocketShared = options.socket !== undefined
    this.#change = options.change ?? ((packet) => packet)
    this.#envelopes = options.envelopes
    this.#prefaceBytes = options.envelopes?.prefaceBytes ?? 0
    made += 1
    const { ptr, len } = loaded.writeUtf8(
      JSON.stringify({
        alpn: options.alpn ?? ['guildhall/0'],
        rejectUnauthorized: false,
        serverAddr: `127.0.0.1:${port}`,
        serverName: 'localhost',
        localAddr: `127.0.0.1:${socket.address().port}`,
        scidHex: made.toString(16).padStart(40, 'c'),
        enableDatagrams: true,
        initialMaxData: options.windowBytes ?? 1 << 20,
        initialMaxStreamDataBidiLocal: 1 << 20,
        initialMaxStreamsBidi: 100,
        maxIdleTimeoutMs: 30_000,
      }),
    )
    this.#handle = loaded.exports.qc_new(ptr, len)
    loaded.free(ptr, len)
    if (this.#handle === 0) throw new Error(loaded.readLastError(loaded.exports.qc_last_error, 0))
    this.#cell = loaded.allocOutPtrCell()
    socket.on('error', () => undefined)
    socket.on('message', (packet) => {
      if (!this.isReading || this.#isFreed) return
      const initial = readInitial(packet)
      const frames = initial && openInitial(initial, { id: this.#firstId, from: 'server' })
      if (frames !== undefined) this.initials.push(frames)
      loaded.writeAt(loaded.exports.qc_rx_buffer(this.#handle), packet)
      loaded.exports.qc_recv(this.#handle, packet.length)
      this.#pump()
    })
    this.#pump()
  }

  /** Sends an envelope on a stream: 0 unless said otherwise. */
  send(kind: number, body: string | Uint8Array = '', stream = 0): void {
    this.write(stream, encodeFrame(kind, bytesOf(body)))
  }

  write(stream: number, bytes: Uint8Array, fin = false): number {
    const { exports } = this.#core
    const { ptr, len } = this.#core.writeBytes(bytes)
    const taken = exports.qc_stream_send(this.#handle, BigInt(stream), ptr, len, Number(fin))
    this.#core.free(ptr, len)
    this.#pump()
    return Number(taken)
  }

  /** Resets the sending half of a stream, or asks the node to stop with one of its own. */
  abandon(stream: number, code = 7): void {
    this.#core.exports.qc_stream_close(this.#handle, BigInt(stream), code)
    this.#pump()
  }

  datagram(bytes: Uint8Array): void {
    const { ptr, len } = this.#core.writeBytes(bytes)
    this.#core.exports.qc_send_datagram(this.#handle, ptr, len)
    this.#core.free(ptr, len)
    this.#pump()
  }

  close(code = 0, reason = ''): void {
    const { ptr, len } = this.#core.writeUtf8(reason)
    this.#core.exports.qc_close(this.#handle, code, ptr, len)
    this.#core.free(ptr, len)
    this.#pump()
  }

  /** The next envelope that came on the node's stream. */
  async next(): Promise<Envelope> {
    await vi.waitFor(() => {
      if (this.received.length === 0) throw new Error('no envelope came')
    }, waiting)
    const envelope = this.received.shift()
    if (envelope === undefined) throw new Error('no envelope')
    return envelope
  }

  async closed(): Promise<{ code: number | undefined; reason: string }> {
    return vi.waitFor(() => {
      if (this.end === undefined) throw new Error('it is not closed')
      return this.end
    }, waiting)
  }

  /** Goes without a word. */
  vanish(): void {
    if (this.#isFreed) return
    this.#isFreed = true
    clearTimeout(this.#timer)
    if (!this.#isSocketShared) this.#socket.close()
    this.#core.exports.qc_free(this.#handle)
  }

  #pump(): void {
    if (this.#isFreed) return
    const { exports } = this.#core
    const length = Number(exports.qc_drain_events(this.#handle, this.#cell))
    const text = length > 2 ? this.#core.readOutPtrResultUtf8(this.#cell, length) : '[]'
    for (const event of JSON.parse(text)) this.#take(event)
    for (;;) {
      const size = Number(exports.qc_next_send(this.#handle))
      if (size <= 0) break
      const packet = this.#core.copyOut(exports.qc_tx_buffer(this.#handle), size)
      this.#firstId = Uint8Array.from(readInitial(packet)?.destination ?? this.#firstId)
      const changed = this.#change(packet)
      if (changed === undefined) continue
      this.packetsOut += 1
      this.#socket.send(changed)
    }
    clearTimeout(this.#timer)
    const timeoutMs = Number(exports.qc_timeout_ms(this.#handle))
    if (timeoutMs < 0) return
    this.#timer = setTimeout(() => {
      exports.qc_on_timeout(this.#handle)
      this.#pump()
    }, timeoutMs)
  }

  #take(event: CoreEvent): void {
    this.events.push(event)
    const { eventType, streamId, dataOff = 0, dataLen = 0 } = event
    if (eventType === 11) this.established = true
    else if (eventType === 14) this.#takeDatagram(this.#core.copyOut(dataOff, dataLen))
    else if (eventType === 7) {
      const { errorCode: code, errorReason: reason = '' } = event.meta ?? {}
      this.end = { code, reason }
      this.ended.resolve(this.end)
    } else if (eventType === 2 || eventType === 4) {
      const bytes = this.#core.copyOut(dataOff, dataLen)
      const before = this.streams.get(streamId) ?? Buffer.alloc(0)
      this.streams.set(streamId, Buffer.concat([before, bytes]))
      if (streamId === (this.#envelopes?.stream ?? 3)) {
        const skipped = Math.min(this.#prefaceBytes, bytes.length)
        this.#prefaceBytes -= skipped
        this.#frames.push(bytes.subarray(skipped))
        for (let next = this.#frames.next(); next; next = this.#frames.next()) {
          this.received.push(next)
        }
      }
    }
    if (event.fin || eventType === 5) this.endedStreams.add(streamId)
  }

  #takeDatagram(bytes: Uint8Array): void {
    this.datagrams.push(bytes)
    if (this.#envelopes === undefined) return
    const at = this.#envelopes.datagramPrefaceBytes
    const kind = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
    this.received.push({ kind, body: bytes.subarray(at + 2) })
  }
}

/** A UDP socket that sends to the node and hears from it alone. */
export async function connectedSocket(port: number): Promise<Socket> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.connect(port, '127.0.0.1', resolve))
  return socket
}

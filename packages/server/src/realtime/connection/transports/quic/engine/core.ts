import { type Http3WasmCore, loadHttp3WasmCore } from '@currentspace/http3/wasm'
import type { Clock } from '../../../../../kernel/clock.ts'
import type { CertificatePair } from '../../../../../kernel/http/connection/certificates.ts'
import { ConnectionMemory } from './connection-memory.ts'

/** An event of the engine as it says it; the numbers are in `eventTypes`. */
export type CoreEvent = {
  eventType: number
  connHandle: number
  streamId: number
  fin?: boolean
  dataOff?: number
  dataLen?: number
  meta?: {
    errorCode?: number
    errorReason?: string
    remoteAddr?: string
    remotePort?: number
  }
}

export const eventTypes = {
  opened: 1,
  firstData: 2,
  data: 4,
  finished: 5,
  closed: 7,
  drained: 8,
  streamError: 10,
  established: 11,
  datagram: 14,
} as const

/**
 * The code that a connection ended with, -1 without one: the engine says 0 for a peer of which it
 * has heard nothing, as for one that leaves.
 */
export function closeCodeOf({ meta }: CoreEvent): number {
  return meta?.errorReason === 'idle timeout' ? -1 : (meta?.errorCode ?? -1)
}

export type CoreOptions = {
  localAddress: string
  certificate: CertificatePair
  /** 64 hex digits; the same for all servers of a socket, so that a Retry of one suits another. */
  retryKey: string
  idleTimeoutMs: number
  maxConnections: number
}

/** What may be in flight from a peer to the node before the node has taken it, in bytes. */
const windowBytes = 1 << 20
const streamsMax = 100
const addressBytesMax = 64
/**
 * Where the release keeps its servers, how long one is, where it counts its ids and its packets,
 * keeps its connections and writes its events, and how long a connection is.
 */
const places = {
  servers: 1325192,
  serverBytes: 1104,
  idsInServer: 656,
  packetsInServer: 956,
  connectionsInServer: 672,
  eventsInServer: [1052, 1064],
  connectionBytes: 14144,
}
/** What a server may keep for the events to come, twice. */
const eventBytesMax = 32 * 1024
/** Servers made by this thread. */
let made = 0

/** The compiled engine in memory; servers share it. */
export function loadCore(
  bytes: Uint8Array<ArrayBuffer>,
  clock: Pick<Clock, 'monotonicMs'>,
): Http3WasmCore {
  return loadHttp3WasmCore(
    { bytes },
    { nowNs: () => BigInt(Math.round(clock.monotonicMs() * 1_000_000)) },
  )
}

/** One server of the engine: the connections that have one certificate. */
export class CoreServer {
  readonly #core: Http3WasmCore
  readonly #handle: number
  readonly #cell: number
  readonly #addressAt: number
  #memory = Buffer.alloc(0)
  /** What stands at `#addressAt`. */
  #address = ''
  #addressLength = 0

  constructor(core: Http3WasmCore, options: CoreOptions) {
    this.#core = core
    const { ptr, len } = core.writeUtf8(
      JSON.stringify({
        key: options.certificate.privateKey,
        cert: options.certificate.certificate,
        alpn: ['guildhall/0', 'h3'],
        localAddr: options.localAddress,
        retryTokenKeyHex: options.retryKey,
        maxIdleTimeoutMs: options.idleTimeoutMs,
        initialMaxData: windowBytes,
        initialMaxStreamDataBidiLocal: windowBytes,
        initialMaxStreamsBidi: streamsMax,
        disableActiveMigration: true,
        enableDatagrams: true,
        maxConnections: options.maxConnections,
      }),
    )
    this.#handle = core.exports.qs_new(ptr, len)
    core.free(ptr, len)
    if (this.#handle === 0) throw new Error(core.readLastError(core.exports.qs_last_error, 0))
    // Its ids follow from the key of all and from a count, which each would begin with 1.
    made += 1
    this.#bytes().writeUInt32LE(made, this.#place() + places.idsInServer + 4)
    this.#cell = core.allocOutPtrCell()
    this.#addressAt = core.alloc(addressBytesMax)
  }

  receive(packet: Uint8Array, address: string): void {
    const { exports } = this.#core
    const at = exports.qs_rx_buffer(this.#handle)
    const memory = this.#bytes()
    memory.set(packet, at)
    if (address !== this.#address) {
      this.#addressLength = memory.write(address, this.#addressAt, addressBytesMax, 'latin1')
      this.#address = address
    }
    exports.qs_recv(this.#handle, packet.length, this.#addressAt, this.#addressLength)
  }

  /** The packets that are to leave now: those it has made, such as a Retry, then all others. */
  flush(send: (packet: Uint8Array, address: string) => void): void {
    const { exports } = this.#core
    let hasMade = this.#hasPackets()
    for (;;) {
      const length = Number(exports.qs_next_send(this.#handle))
      if (length <= 0) return
      const at = exports.qs_tx_buffer(this.#handle)
      const packet = Buffer.from(this.#bytes().subarray(at, at + length))
      const addressLength = Number(exports.qs_next_send_dest(this.#handle, this.#cell))
      if (addressLength <= 0) return
      send(packet, this.#text(addressLength))
      if (this.#hasPackets()) continue
      if (!hasMade) return
      // It has looked at no connection yet.
      hasMade = false
    }
  }

  /** Says what has happened since. */
  drainEvents(take: (event: CoreEvent) => void): void {
    const length = Number(this.#core.exports.qs_drain_events(this.#handle, this.#cell))
    if (length <= 2) return
    const events: CoreEvent[] = JSON.parse(this.#text(length))
    for (const event of events) take(event)
    this.#forgetEvents()
  }

  /** The bytes of an event, in the engine's own memory: they are gone with the next call. */
  bytesOf({ dataOff = 0, dataLen = 0 }: CoreEvent): Uint8Array {
    return this.#bytes().subarray(dataOff, dataOff + dataLen)
  }

  /** False when flow control takes no more; what was given is kept, and `drained` is reported. */
  send(connection: number, stream: number, bytes: Uint8Array, fin: boolean): boolean {
    return this.#withBytes(bytes, (at, length) => {
      const { qs_stream_send } = this.#core.exports
      const taken = qs_stream_send(
        this.#handle,
        connection,
        BigInt(stream),
        at,
        length,
        Number(fin),
      )
      return taken !== -1n
    })
  }

  /** False when there is no room for it now. */
  datagram(connection: number, bytes: Uint8Array): boolean {
    return this.#withBytes(
      bytes,
      (at, length) =>
        this.#core.exports.qs_send_datagram(this.#handle, connection, at, length) >= 0n,
    )
  }

  ping(connection: number): void {
    this.#core.exports.qs_ping(this.#handle, connection)
  }

  close(connection: number, code: number, reason: Uint8Array): void {
    this.#withBytes(reason, (at, length) =>
      this.#core.exports.qs_close_connection(this.#handle, connection, code, at, length),
    )
  }

  /** What the engine holds of a connection. */
  memoryOf(connection: number): ConnectionMemory {
    const memory = this.#bytes()
    const connections = memory.readUInt32LE(this.#place() + places.connectionsInServer)
    return new ConnectionMemory(memory, connections + connection * places.connectionBytes)
  }

  /** Lets go of what came and of what was not acknowledged, which a close alone would keep. */
  forgetStreams(connection: number): void {
    for (const stream of this.memoryOf(connection).streamIds()) {
      this.#core.exports.qs_stream_close(this.#handle, connection, BigInt(stream), 0)
    }
  }

  roundTripMs(connection: number): number {
    const { exports } = this.#core
    const length = Number(exports.qs_session_metrics(this.#handle, connection, this.#cell))
    if (length <= 0) return 0
    return JSON.parse(this.#text(length)).rttMs
  }

  /** How long until a timer of a connection is due; undefined while none is set. */
  timeoutMs(): number | undefined {
    const timeoutMs = Number(this.#core.exports.qs_timeout_ms(this.#handle))
    return timeoutMs < 0 ? undefined : timeoutMs
  }

  onTimeout(): void {
    this.#core.exports.qs_on_timeout(this.#handle)
  }

  free(): void {
    this.#core.free(this.#cell, 4)
    this.#core.free(this.#addressAt, addressBytesMax)
    this.#core.exports.qs_free(this.#handle)
  }

  /**
   * Whether packets wait that the engine has made. It makes all that its connections have to send
   * at once, and looks at each of them again when it is asked for one more.
   */
  #hasPackets(): boolean {
    return this.#bytes().readUInt32LE(this.#place() + places.packetsInServer) > 0
  }

  /** Gives back what a burst of events took, which the server would keep for others like it. */
  #forgetEvents(): void {
    const memory = this.#bytes()
    const server = this.#place()
    for (const at of places.eventsInServer.map((place) => server + place)) {
      const bytes = memory.readUInt32LE(at)
      if (bytes <= eventBytesMax) continue
      this.#core.free(memory.readUInt32LE(at + 4), bytes)
      // As it was when nothing had been written.
      memory.writeUInt32LE(0, at)
      memory.writeUInt32LE(1, at + 4)
      memory.writeUInt32LE(0, at + 8)
    }
  }

  /** Where the engine keeps this server now. */
  #place(): number {
    return this.#bytes().readUInt32LE(places.servers) + (this.#handle - 1) * places.serverBytes
  }

  /** All of the engine's memory, which is another one whenever it has grown. */
  #bytes(): Buffer {
    const { buffer } = this.#core.exports.memory
    if (this.#memory.buffer !== buffer) this.#memory = Buffer.from(buffer)
    return this.#memory
  }

  /** What the last call has written of its own, as its cell says where. */
  #text(length: number): string {
    const memory = this.#bytes()
    const at = memory.readUInt32LE(this.#cell)
    return memory.toString('utf8', at, at + length)
  }

  #withBytes<T>(bytes: Uint8Array, use: (at: number, length: number) => T): T {
    const { ptr, len } = this.#core.writeBytes(bytes)
    try {
      return use(ptr, len)
    } finally {
      this.#core.free(ptr, len)
    }
  }
}

import { type Envelope, FrameDecoder } from '@guildhall/contract'
import type {
  Acceptor,
  Connection,
  ConnectionEvents,
  Datagrams,
  Lanes,
  Transport,
} from './transport.ts'

/** A transport in memory, whose connections a test opens. */
export class StreamsTransport implements Transport {
  readonly name = 'memory'
  readonly hasOwnSocket = true
  #gateway: Acceptor | undefined
  #isOpen = false

  /** Mounts it at a gateway. */
  at(gateway: Acceptor): this {
    this.#gateway = gateway
    return this
  }

  connect(): StreamsConnection {
    if (this.#gateway === undefined) throw new Error('no gateway')
    const connection = new StreamsConnection()
    connection.events = this.#gateway.accept(connection)
    return connection
  }

  async start(): Promise<void> {
    this.#isOpen = true
  }

  state = () => ({ enabled: true, available: this.#isOpen, bind: 'memory:1' })

  metrics = () => ({ memory_connections_total: 1 })

  async close(): Promise<void> {
    this.#isOpen = false
  }
}

/**
 * A connection with streams, datagrams and credit, as QUIC has them, without a network: what a
 * session sends is decoded here, and a test gives credit and says what comes in.
 */
export class StreamsConnection implements Connection {
  readonly limitGroup = undefined
  credit = 1 << 20
  readonly datagrams: Datagrams & { bytesMax: number; room: number }
  readonly sent: { stream: Envelope[]; datagrams: Uint8Array[] } = { stream: [], datagrams: [] }
  readsAll = false
  isPaused = false
  closedWith: { code: number; reason: string } | undefined
  #events: ConnectionEvents | undefined
  readonly #decoder = new FrameDecoder(1 << 23)

  constructor() {
    const { sent } = this
    this.datagrams = {
      bytesMax: 1200,
      room: 1000,
      send(datagram) {
        if (this.room === 0) return false
        this.room -= 1
        sent.datagrams.push(datagram)
        return true
      },
    }
  }

  /** What a transport reports to the gateway. */
  get events(): ConnectionEvents {
    if (this.#events === undefined) throw new Error('the gateway has not accepted it')
    return this.#events
  }

  set events(events: ConnectionEvents) {
    this.#events = events
  }

  write({ reliable, unreliable }: Lanes): void {
    if (unreliable !== undefined) throw new Error('there are datagrams for these')
    const frame = reliable?.at(0)
    if (frame === undefined) throw new Error('nothing waits')
    reliable?.drop(1)
    this.credit -= frame.bytes.length
    this.#decoder.push(Uint8Array.from(frame.bytes))
    for (let next = this.#decoder.next(); next; next = this.#decoder.next()) {
      this.sent.stream.push(next)
    }
  }

  /** The other side has taken bytes. */
  give(credit: number): void {
    this.credit += credit
    this.events.drained()
  }

  kinds(): number[] {
    return this.sent.stream.map(({ kind }) => kind)
  }

  pauseReading(): void {
    this.isPaused = true
  }

  resumeReading(): void {
    this.isPaused = false
  }

  readAllStreams(): void {
    this.readsAll = true
  }

  close(code: number, reason: string): void {
    this.closedWith = { code, reason }
    this.events.closed()
  }

  destroy(): void {
    this.events.closed()
  }
}

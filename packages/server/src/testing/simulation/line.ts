import { type Envelope, encodeFrame, FrameDecoder } from '@guildhall/contract'
import type {
  Acceptor,
  Connection,
  ConnectionEvents,
  Lanes,
  PeerEnd,
} from '../../realtime/connection/transports/transport.ts'
import type { Process, World } from './world.ts'

/** What a client learns of its connection. */
export type LineEvents = {
  received(envelope: Envelope): void
  /** The code of the close; undefined when the connection was lost. */
  closed(code: number | undefined): void
}

/** The connection of a client with a node: a stream of frames in each direction. */
export class Line implements Connection {
  readonly limitGroup = undefined
  readonly credit = 1 << 20
  readonly datagrams = undefined
  readonly #world: World
  readonly #process: Process
  readonly #client: LineEvents
  readonly #travelMs: number
  readonly #decoder = new FrameDecoder(1 << 23)
  #node: ConnectionEvents | undefined
  #isRead = true
  #unread: Uint8Array[] = []
  #isOpenHere = true
  #isOpenThere = true

  constructor(world: World, process: Process, travelMs: number, client: LineEvents) {
    this.#world = world
    this.#process = process
    this.#travelMs = travelMs
    this.#client = client
  }

  /** Whether the client has it still. */
  get isOpen(): boolean {
    return this.#isOpenHere
  }

  connect(gateway: Acceptor): void {
    this.#toNode(() => {
      this.#node = gateway.accept(this)
    })
    this.#world.after(this.#travelMs, () => {
      if (this.#process.isDead) this.#lostHere()
    })
  }

  send(kind: number, body: Uint8Array): void {
    const frame = encodeFrame(kind, body)
    this.#toNode(() => {
      if (this.#isRead) this.#node?.received(0, frame)
      else this.#unread.push(frame)
    })
  }

  /** The client ends it, or loses it. */
  end(how: PeerEnd): void {
    if (!this.#isOpenHere) return
    this.#isOpenHere = false
    this.#toNode(() => {
      this.#isOpenThere = false
      this.#node?.ending(how)
      this.#node?.closed()
    })
  }

  /** The node is gone: the client notices soon. */
  die(): void {
    this.#world.after(this.#travelMs, () => this.#lostHere())
  }

  // What the node does.

  write({ reliable, unreliable }: Lanes): void {
    for (const lane of [reliable, unreliable]) {
      for (let frame = lane?.at(0); frame !== undefined; frame = lane?.at(0)) {
        lane?.drop(1)
        const bytes = Uint8Array.from(frame.bytes)
        this.#toClient(() => this.#decode(bytes))
      }
    }
  }

  pauseReading(): void {
    this.#isRead = false
  }

  resumeReading(): void {
    this.#isRead = true
    const unread = this.#unread
    this.#unread = []
    for (const frame of unread) {
      if (this.#isRead) this.#node?.received(0, frame)
      else this.#unread.push(frame)
    }
  }

  close(code: number): void {
    this.#toClient(() => {
      this.#isOpenHere = false
      this.#client.closed(code)
    })
    this.#closedThere(2 * this.#travelMs)
  }

  destroy(): void {
    this.#world.after(this.#travelMs, () => this.#lostHere())
    this.#closedThere(0)
  }

  #closedThere(afterMs: number): void {
    this.#world.after(afterMs, () => {
      this.#process.enter(() => {
        if (!this.#isOpenThere) return
        this.#isOpenThere = false
        this.#node?.closed(true)
      })
    })
  }

  #lostHere(): void {
    if (!this.#isOpenHere) return
    this.#isOpenHere = false
    this.#client.closed(undefined)
  }

  #decode(bytes: Uint8Array): void {
    this.#decoder.push(bytes)
    for (let next = this.#decoder.next(); next; next = this.#decoder.next()) {
      if (this.#isOpenHere) this.#client.received(next)
    }
  }

  #toNode(task: () => void): void {
    this.#world.after(this.#travelMs, () => {
      this.#process.enter(() => {
        if (this.#isOpenThere) task()
      })
    })
  }

  #toClient(task: () => void): void {
    this.#world.after(this.#travelMs, () => {
      if (this.#isOpenHere) task()
    })
  }
}

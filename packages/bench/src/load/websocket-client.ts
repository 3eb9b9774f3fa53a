import { connect, type Socket } from 'node:net'

export type WebSocketClientOptions = {
  port: number
  path: string
  /** The loopback address to come from, because one address has only so many ports. */
  localAddress?: string
}

/**
 * A WebSocket that costs next to nothing: it masks with zeros, takes for granted that the server
 * keeps to the protocol, and hands payloads on in the pieces in which they arrive.
 */
export class WebSocketClient {
  /** Gets each piece of a payload, which is overwritten after the call. */
  onPayload: (piece: Buffer) => void = () => {}
  onClose: () => void = () => {}
  /** How many messages have begun to arrive, without pings. */
  messages = 0
  readonly #socket: Socket
  #isOpen = false
  #isClosing = false
  #onOpen: (() => void) | undefined
  /** The beginning of a header that came in pieces. */
  #header: Buffer = nothing
  /** What is left of the present message, and whether it is a ping. */
  #payloadLeft = 0

  private constructor({ port, path, localAddress }: WebSocketClientOptions) {
    this.#socket = connect({
      host: '127.0.0.1',
      port,
      ...(localAddress === undefined ? {} : { localAddress }),
      noDelay: true,
      onread: {
        buffer: readBuffer,
        callback: (count) => {
          this.#receive(readBuffer.subarray(0, count))
          return true
        },
      },
    })
    this.#socket.write(upgrade(path))
    this.#socket.on('close', () => this.onClose())
    this.#socket.on('error', () => {})
  }

  static open(options: WebSocketClientOptions): Promise<WebSocketClient> {
    return new Promise((resolve, reject) => {
      const client = new WebSocketClient(options)
      client.#onOpen = () => resolve(client)
      client.onClose = () => reject(new Error('the server refused a WebSocket'))
    })
  }

  /** Writes bytes that `clientMessage` has made. */
  write(message: Buffer): void {
    this.#socket.write(message)
  }

  close(): void {
    this.#socket.destroy()
  }

  #receive(chunk: Buffer): void {
    let bytes = chunk
    if (this.#header.length > 0) {
      bytes = Buffer.concat([this.#header, chunk])
      this.#header = nothing
    }
    let at = this.#isOpen ? 0 : this.#afterUpgrade(bytes)
    while (at < bytes.length) {
      if (this.#payloadLeft === 0) {
        const headerBytes = this.#readHeader(bytes, at)
        if (headerBytes === 0) {
          this.#header = Buffer.from(bytes.subarray(at))
          return
        }
        // Its code is no frame of the protocol.
        if (this.#isClosing) return void this.close()
        at += headerBytes
        continue
      }
      const count = Math.min(this.#payloadLeft, bytes.length - at)
      this.onPayload(bytes.subarray(at, at + count))
      this.#payloadLeft -= count
      at += count
    }
  }

  #afterUpgrade(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n\r\n')
    if (end < 0) {
      this.#header = Buffer.from(bytes)
      return bytes.length
    }
    if (bytes.toString('latin1', 9, 12) !== '101') {
      this.#socket.destroy()
      return bytes.length
    }
    this.#isOpen = true
    this.#onOpen?.()
    return end + 4
  }

  /** The length of the header at `at`; 0 when it is not all there. */
  #readHeader(bytes: Buffer, at: number): number {
    const short = (bytes[at + 1] ?? 255) & 127
    const headerBytes = short === 127 ? 10 : short === 126 ? 4 : 2
    if (bytes.length - at < headerBytes) return 0
    if (short === 127) throw new Error('a message of more than 64 KiB')
    this.#payloadLeft = short === 126 ? bytes.readUInt16BE(at + 2) : short
    const opcode = (bytes[at] ?? 0) & 15
    // The pings of the product have no payload.
    if (opcode === pingOpcode) this.#socket.write(emptyPong)
    else if (opcode === closeOpcode) this.#isClosing = true
    else this.messages += 1
    return headerBytes
  }
}

/** The bytes of a binary message from a client. The mask of zeros leaves the payload as it is. */
export function clientMessage(payload: Uint8Array): Buffer {
  if (payload.length > 125) throw new RangeError('the benchmarks send short messages only')
  return Buffer.concat([Buffer.from([0x82, 0x80 | payload.length, 0, 0, 0, 0]), payload])
}

const nothing = Buffer.alloc(0)
const closeOpcode = 8
const pingOpcode = 9
const emptyPong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])
/** Read into by every client, because a chunk is done with before the next one is read. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024)

function upgrade(path: string): string {
  const lines = [
    `GET ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}

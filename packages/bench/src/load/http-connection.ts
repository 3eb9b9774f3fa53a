import { connect, type Socket } from 'node:net'

/** Called with the status and the whole response, which is overwritten after the call. */
export type OnResponse = (status: number, response: Buffer) => void

/**
 * A keep-alive connection with one request in flight, which knows just enough HTTP to find the end
 * of a response: the load must cost far less than what it measures.
 */
export class HttpConnection {
  readonly #socket: Socket
  #onResponse: OnResponse | undefined
  /** The beginning of a response that came in pieces. */
  #pending: Buffer | undefined

  private constructor(port: number) {
    this.#socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: {
        buffer: readBuffer,
        callback: (count) => {
          this.#receive(readBuffer.subarray(0, count))
          return true
        },
      },
    })
  }

  static async open(port: number): Promise<HttpConnection> {
    const connection = new HttpConnection(port)
    await new Promise<void>((resolve, reject) => {
      connection.#socket.once('connect', resolve)
      connection.#socket.once('error', reject)
    })
    return connection
  }

  /** The bytes of a request, prepared once, and who gets the response. */
  send(request: Buffer, onResponse: OnResponse): void {
    this.#onResponse = onResponse
    this.#socket.write(request)
  }

  /** Sends a request and resolves to the parsed body of its response. */
  fetch(request: Buffer): Promise<{ status: number; body: unknown }> {
    return new Promise((resolve, reject) => {
      this.#socket.once('error', reject)
      this.send(request, (status, response) => {
        this.#socket.off('error', reject)
        const text = response.toString('utf8', response.indexOf('\r\n\r\n') + 4)
        resolve({ status, body: text === '' ? undefined : JSON.parse(text) })
      })
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #receive(chunk: Buffer): void {
    const bytes = this.#pending === undefined ? chunk : Buffer.concat([this.#pending, chunk])
    const length = responseBytes(bytes)
    if (length === undefined || length > bytes.length) {
      this.#pending = Buffer.from(bytes)
      return
    }
    this.#pending = undefined
    const status =
      (bytes[9] ?? 0) * 100 + (bytes[10] ?? 0) * 10 + (bytes[11] ?? 0) - 111 * zeroDigit
    this.#onResponse?.(status, bytes)
  }
}

/** The bytes of a request. A body is sent as JSON. */
export function httpRequest(
  method: string,
  path: string,
  { token, body }: { token?: string; body?: unknown } = {},
): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body)
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...(body === undefined
      ? []
      : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`]),
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${text}`)
}

/** Read into by every connection, because a chunk is done with before the next one is read. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024)
const headEnd = Buffer.from('\r\n\r\n')
const lengthHeader = Buffer.from('ontent-')
const zeroDigit = 48
const nineDigit = 57

/** Bytes of the response at the front; undefined when its head is not all there. */
function responseBytes(bytes: Buffer): number | undefined {
  const end = bytes.indexOf(headEnd)
  if (end < 0) return undefined
  let at = bytes.indexOf(lengthHeader)
  while (at >= 0 && at < end) {
    at += lengthHeader.length
    const isLength = bytes.toString('latin1', at, at + 7).toLowerCase() === 'length:'
    if (isLength) return end + headEnd.length + numberAt(bytes, at + 7)
    at = bytes.indexOf(lengthHeader, at)
  }
  return end + headEnd.length
}

function numberAt(bytes: Buffer, start: number): number {
  let value = 0
  for (let at = start; ; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === 32) continue
    if (byte < zeroDigit || byte > nineDigit) return value
    value = value * 10 + byte - zeroDigit
  }
}

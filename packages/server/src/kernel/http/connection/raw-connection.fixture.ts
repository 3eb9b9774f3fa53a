import { connect, type Socket } from 'node:net'

/** One answer as it came over the wire, nothing normalized. */
export type RawAnswer = {
  version: string
  status: number
  /** Header names in lower case, in the order and number in which they came. */
  headerLines: readonly (readonly [name: string, value: string])[]
  header(name: string): string | undefined
  body: string
}

export type RawConnection = {
  write(bytes: string | Buffer): void
  /** The next answer; rejects when the connection closes before it is complete. */
  next(request?: { head: boolean }): Promise<RawAnswer>
  /** Resolves when the server has closed the connection, with what it sent beyond the answers. */
  closed: Promise<string>
  end(): void
  destroy(): void
}

/** A TCP connection that sends exactly the bytes it is given: what `fetch` would never send. */
export async function openRawConnection(port: number): Promise<RawConnection> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).once('error', reject)
  })
  return speakRaw(socket)
}

/** One request on a connection of its own; the answer, and whether the server closed it after. */
export async function sendRaw(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  const connection = await openRawConnection(port)
  connection.write(bytes)
  try {
    return await connection.next({ head: bytes.toString('latin1').startsWith('HEAD ') })
  } finally {
    connection.destroy()
  }
}

export function speakRaw(socket: Socket): RawConnection {
  let received = ''
  let ended = false
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const check of [...waiting]) check()
  }
  const finish = () => {
    ended = true
    wake()
  }
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => {
    received += text
    wake()
  })
  // A reset closes the connection as well; what came before it counts.
  socket.on('error', finish).on('end', finish).on('close', finish)

  function until<T>(look: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = () => {
        const found = look()
        if (found === undefined && !ended) return
        waiting.delete(check)
        if (found === undefined) reject(new Error(`closed after ${JSON.stringify(received)}`))
        else resolve(found)
      }
      waiting.add(check)
      check()
    })
  }

  return {
    write: (bytes) => void socket.write(bytes),
    next: (request) =>
      until(() => {
        const found = parseAnswer(received, request?.head === true)
        if (found === undefined) return undefined
        received = found.rest
        return found.answer
      }),
    closed: new Promise((resolve) => {
      const check = () => {
        if (ended) resolve(received)
        else waiting.add(check)
      }
      check()
    }),
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
  }
}

function parseAnswer(text: string, head: boolean) {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [statusLine = '', ...lines] = text.slice(0, headEnd).split('\r\n')
  const [, version = '', status = ''] = /^HTTP\/(\d\.\d) (\d{3}) /.exec(statusLine) ?? []
  const headerLines = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
  })
  const header = (name: string) => headerLines.find(([each]) => each === name)?.[1]
  const rest = text.slice(headEnd + 4)
  const bodiless = head || /^(1..|204|304)$/.test(status)
  const body = bodiless ? { text: '', end: 0 } : bodyOf(rest, header)
  if (body === undefined) return undefined
  const answer = { version, status: Number(status), headerLines, header, body: body.text }
  return { answer, rest: rest.slice(body.end) }
}

function bodyOf(rest: string, header: (name: string) => string | undefined) {
  const length = Number(header('content-length') ?? Number.NaN)
  if (!Number.isNaN(length)) {
    const text = Buffer.from(rest.slice(0, length), 'latin1').toString('utf8')
    return rest.length < length ? undefined : { text, end: length }
  }
  const end = rest.indexOf('0\r\n\r\n')
  if (end < 0) return undefined
  return { text: rest.slice(0, end), end: end + 5 }
}

import { createServer, type Socket } from 'node:net'

/** The part of a NATS server that a bus needs, for machines where the real one is not installed. */
export async function startNatsServer() {
  const clients = new Map<Socket, Map<string, string>>()
  const server = createServer((socket) => {
    clients.set(socket, new Map())
    socket.on('error', () => {})
    socket.on('close', () => clients.delete(socket))
    const info = { server_id: 'test', version: '2.10.0', proto: 1, max_payload: 1_048_576 }
    socket.write(`INFO ${JSON.stringify({ ...info, headers: true })}\r\n`)
    let waiting = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      waiting = Buffer.concat([waiting, chunk])
      for (let used = take(socket, waiting); used > 0; used = take(socket, waiting)) {
        waiting = waiting.subarray(used)
      }
    })
  })

  /** Serves the first operation; how many bytes it had, 0 when it is not there yet. */
  function take(socket: Socket, bytes: Buffer): number {
    const end = bytes.indexOf('\r\n')
    if (end < 0) return 0
    const [operation = '', ...words] = bytes.subarray(0, end).toString().split(' ')
    const after = end + 2
    if (operation === 'PING') socket.write('PONG\r\n')
    if (operation === 'SUB') clients.get(socket)?.set(words.at(-1) ?? '', words[0] ?? '')
    if (operation !== 'PUB') return after
    const size = Number(words.at(-1))
    if (bytes.length < after + size + 2) return 0
    publish(words[0] ?? '', bytes.subarray(after, after + size))
    return after + size + 2
  }

  function publish(subject: string, payload: Buffer): void {
    for (const [socket, subscriptions] of clients) {
      for (const [id, wanted] of subscriptions) {
        if (wanted !== subject) continue
        socket.write(`MSG ${subject} ${id} ${payload.length}\r\n`)
        socket.write(payload)
        socket.write('\r\n')
      }
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `nats://127.0.0.1:${port}`,
    /** Cuts all connections, which come back. */
    cut() {
      for (const socket of clients.keys()) socket.destroy()
    },
    async close() {
      for (const socket of clients.keys()) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

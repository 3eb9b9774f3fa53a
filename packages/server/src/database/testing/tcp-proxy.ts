import { connect, createServer, type Socket } from 'node:net'

/** Stands between a client and a server, and can let both wait for each other without a word. */
export type TcpProxy = {
  readonly port: number
  /** Forwards nothing any more; new connections are accepted and get no answer. */
  freeze(): void
  /** Drops what was frozen and forwards new connections again. */
  thaw(): void
  close(): Promise<void>
}

export async function startProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let frozen = false

  function keep(socket: Socket): Socket {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    return socket.on('close', () => sockets.delete(socket))
  }

  const listener = createServer((client) => {
    keep(client)
    if (frozen) return
    const server = keep(connect(targetPort, '127.0.0.1'))
    client.on('close', () => server.destroy())
    server.on('close', () => client.destroy())
    client.on('data', (chunk) => frozen || server.write(chunk))
    server.on('data', (chunk) => frozen || client.write(chunk))
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()

  function drop(): void {
    for (const socket of sockets) socket.destroy()
  }

  return {
    port: typeof address === 'object' && address ? address.port : 0,
    freeze() {
      frozen = true
    },
    thaw() {
      frozen = false
      drop()
    },
    async close() {
      drop()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}

import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A relay in front of the node. A cut line loses its connections and takes no new ones. */
export type Line = {
  url: string
  cut(): void
  /** The connections stay, and nothing goes over them any more, not even their end. */
  swallow(): void
  mend(): void
  /** New connections go to another node. */
  leadTo(port: number): void
  close(): void
}

export async function openLine(port: number): Promise<Line> {
  const sockets = new Set<Socket>()
  const swallowed = new WeakSet<Socket>()
  let nodePort = port
  let isCut = false
  const server = createServer((near) => {
    if (isCut) return void near.destroy()
    const far = connect(nodePort, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => {
        if (!swallowed.has(from)) to.write(bytes)
      })
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        if (!swallowed.has(from)) to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const end = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true
      end()
    },
    swallow() {
      for (const socket of sockets) swallowed.add(socket)
    },
    mend() {
      isCut = false
    },
    leadTo(port) {
      nodePort = port
    },
    close() {
      end()
      server.close()
    },
  }
}
